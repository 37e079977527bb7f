import APNSProtocol
import ControlProtocol
import Crypto
import Registrations
import Testing

/// The JSON of changes of a store and of the responses.
@Suite struct StoreChangeTests {
    private static let now: Int64 = 1_750_000_000_000
    private static let key = Registration.Key(
        token: UUIDValue(high: 1, low: 2), slot: UUIDValue(high: 3, low: 4))

    private static let registration = RegistrationCommand.register(
        NewRegistration(
            address: TokenAddress(
                app: "com.example.app", environment: .sandbox, kind: .liveactivity, scope: "a1", token: "0a0b"),
            user: "ann \"smith\"", deviceID: "phone", platform: .ios, registeredAt: now - 1, expiresAt: now + 1,
            isShared: true))

    @Test(
        arguments: [
            .apply([]), .apply([registration, .erase(user: "ann", app: nil, at: now)]), .edit(.rekey, after: nil),
            .edit(.unsuspend(app: "com.example.app"), after: key),
        ] as [StoreChange.Work])
    func `A worker reads the change that a command wrote`(work: StoreChange.Work) throws {
        let change = StoreChange(path: "/var/lib/a \"b\".db", work)
        #expect(try StoreChange(json: change.json, now: Self.now) == change)
    }

    @Test(arguments: [
        "", "{}", #"{"store":"/a"}"#, #"{"store":"/a","edit":"delete"}"#, #"{"store":"/a","edit":"unsuspend"}"#,
        #"{"store":"/a","edit":"rekey","after":"x"}"#, #"{"store":"/a","commands":{}}"#,
        #"{"store":"/a","commands":[{"command":"erase"}]}"#,
        #"{"store":"/a","commands":[{"command":"register","app":"a","user":"b","device_token":"0a","registered_at":1750000000000}]}"#,
        #"{"store":"/a","commands":[\#(String(repeating: "1,", count: 256))1]}"#,
    ])
    func `Other bodies are refused`(body: String) {
        #expect(throws: CommandViolation.self) { try StoreChange(json: Array(body.utf8), now: Self.now) }
    }

    @Test func `The largest batch fits into a request`() throws {
        let text = String(repeating: "\"", count: RegistrationLimits.nameBytesMax)
        let command = RegistrationCommand.register(
            NewRegistration(
                address: TokenAddress(
                    app: String(repeating: "a", count: 200), environment: .sandbox, kind: .liveactivity, scope: text,
                    token: String(repeating: "0a", count: 200)),
                user: String(repeating: "\"", count: RegistrationLimits.userBytesMax), deviceID: text,
                registeredAt: Self.now))
        let commands = Array(repeating: command, count: CommandBatch.commandsMax)
        #expect(StoreChange(path: "/a", .apply(commands)).json.count <= StoreChange.bytesMax)
    }

    @Test(
        arguments: [
            .applied([]),
            .applied([
                CommandOutcome(reply: .notFound, events: []),
                CommandOutcome(
                    reply: .ended,
                    events: [
                        StoredEvent(
                            id: UUIDValue(high: 5, low: 6), app: "com.example.app",
                            body: Array(#"{"event":"erased","user":"ann"}"#.utf8), mayBeDuplicate: false)
                    ]),
            ]),
            .edited(last: nil, editedCount: 7, unreadableCount: 1),
            .edited(last: key, editedCount: 0, unreadableCount: 0),
            .failed(StoreFault(.refused, "the disk is full", errorClass: "full")),
            .failed(StoreFault(.data, "correct the command")),
        ] as [StoreChangeResponse])
    func `A command reads the response that a worker wrote`(response: StoreChangeResponse) {
        #expect(StoreChangeResponse(json: response.json) == response)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"outcomes":[{}]}"#, #"{"outcomes":[{"outcome":"ended","events":[{}]}]}"#,
        #"{"edited":1}"#, #"{"fault":"other"}"#,
    ])
    func `Other responses are refused`(body: String) {
        #expect(StoreChangeResponse(json: Array(body.utf8)) == nil)
    }
}
