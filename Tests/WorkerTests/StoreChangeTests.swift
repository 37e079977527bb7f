import APNSProtocol
import ControlProtocol
import Crypto
import Registrations
import Testing

/// The JSON of changes of a store and of the responses.
@Suite struct StoreChangeTests {
    private static let now: Int64 = 1_750_000_000_000
    private static let indexKey = "0a0b0c0d"
    private static let key = Registration.Key(
        token: UUIDValue(high: 1, low: 2), slot: UUIDValue(high: 3, low: 4))

    private static let registration = RegistrationCommand.register(
        NewRegistration(
            address: TokenAddress(
                app: "com.example.app", environment: .sandbox, kind: .liveactivity, scope: "a1", token: "0a0b"),
            user: "ann \"smith\"", deviceID: "phone", platform: .ios, registeredAt: now - 1, expiresAt: now + 1,
            isShared: true))
    private static let withoutEnvironment =
        #"{"command":"register","app":"a","user":"b","device_token":"0a","registered_at":1750000000000}"#
    private static let mark = StoredEnd.mark(
        EndMark(key: UUIDValue(high: 7, low: 8), at: now, isPermanent: true))
    private static let tombstone = StoredEnd.tombstone(
        Registration(
            key: key, app: "com.example.app", environment: .production, kind: .voip, registeredAt: 0,
            deviceKey: UUIDValue(high: 9, low: 10), state: .ended(at: now)))

    @Test(
        arguments: [
            .probe, .apply([registration, .erase(user: "ann", app: nil, at: now)], ends: []),
            .apply([], ends: [mark]), .apply([registration], ends: [tombstone, mark]),
            .rekey(to: DataKeySummary(id: 2, fingerprint: "9c41d0aa", isActive: true), after: nil),
            .unsuspend(app: "com.example.app", after: key),
        ] as [StoreChange.Work])
    func `A worker reads the change that a command wrote`(work: StoreChange.Work) throws {
        let change = StoreChange(path: "/var/lib/a \"b\".db", work)
        let json = change.json(indexKey: Self.indexKey)
        #expect(try StoreChange(json: json, indexKey: Self.indexKey, now: Self.now) == change)
    }

    @Test func `Ends of another index key are refused`() {
        let json = StoreChange(path: "/a", .apply([Self.registration], ends: [Self.mark])).json(indexKey: "00000000")
        #expect(throws: CommandViolation.self) {
            try StoreChange(json: json, indexKey: Self.indexKey, now: Self.now)
        }
    }

    @Test(arguments: [
        "", "{}", #"{"store":"/a"}"#, #"{"store":"/a","edit":"delete"}"#, #"{"store":"/a","edit":"unsuspend"}"#,
        #"{"store":"/a","edit":"rekey"}"#, #"{"store":"/a","edit":"rekey_to"}"#,
        #"{"store":"/a","edit":"rekey_to","data_key":2}"#,
        #"{"store":"/a","edit":"rekey_to","data_key":2,"fingerprint":"9c41d0aa","after":"x"}"#,
        #"{"store":"/a","commands":{},"ends":[]}"#,
        #"{"store":"/a","probe":false}"#, #"{"store":"/a","commands":[]}"#, #"{"store":"/a","commands":[],"ends":[]}"#,
        #"{"store":"/a","commands":[],"ends":{}}"#, #"{"store":"/a","commands":[],"ends":[{"end":"mark"}]}"#,
        #"{"store":"/a","commands":[{"command":"erase"}],"ends":[]}"#,
        #"{"store":"/a","commands":[\#(withoutEnvironment)],"ends":[]}"#,
    ])
    func `Other bodies are refused`(body: String) {
        #expect(throws: CommandViolation.self) {
            try StoreChange(json: Array(body.utf8), indexKey: Self.indexKey, now: Self.now)
        }
    }

    @Test func `A change has at most the items of a batch`() {
        let commands = Array(repeating: Self.registration, count: CommandBatch.commandsMax)
        #expect(throws: Never.self) { try read(.apply(commands, ends: [])) }
        #expect(throws: CommandViolation.self) { try read(.apply(commands, ends: [Self.mark])) }
    }

    private func read(_ work: StoreChange.Work) throws -> StoreChange {
        try StoreChange(
            json: StoreChange(path: "/a", work).json(indexKey: Self.indexKey), indexKey: Self.indexKey, now: Self.now)
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
        let change = StoreChange(path: "/a", .apply(commands, ends: []))
        #expect(change.json(indexKey: Self.indexKey).count <= StoreChange.bytesMax)
    }

    @Test(
        arguments: [
            .confirmed, .applied([]),
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
            .edited(EditedPage(last: nil, editedCount: 7, unreadableCount: 1)),
            .edited(EditedPage(last: key, editedCount: 0, unreadableCount: 0)),
            .failed(StoreFault(.refused, "the disk is full", errorClass: "full")),
            .failed(StoreFault(.data, "correct the command")),
        ] as [StoreChangeResponse])
    func `A command reads the response that a worker wrote`(response: StoreChangeResponse) {
        #expect(StoreChangeResponse(json: response.json) == response)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"confirmed":false}"#, #"{"outcomes":[{}]}"#,
        #"{"outcomes":[{"outcome":"ended","events":[{}]}]}"#,
        #"{"edited":1}"#, #"{"fault":"other"}"#,
    ])
    func `Other responses are refused`(body: String) {
        #expect(StoreChangeResponse(json: Array(body.utf8)) == nil)
    }
}
