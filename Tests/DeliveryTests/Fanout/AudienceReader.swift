import APNSProtocol
import Crypto
import EventLoop
import JSONSchema
import Registrations

@testable import AMQP
@testable import Delivery

/// A reader of requests whose only app is configured for production.
struct AudienceReader {
    static let app = "com.example.app"
    static let id = "6a204bd8-94ae-4c1a-a6b3-2d3a6d9f2f10"

    private let reader: RequestReader

    init(hasRegistrations: Bool = true, payloadSchema: CompiledSchema? = nil) {
        reader = RequestReader(
            apps: AppDirectory([
                AppDirectory.App(bundleID: Self.app, defaultEnvironment: .production, production: .init(0))
            ]),
            payloadSchemas: payloadSchema.map { PayloadSchemas([$0], ofApps: [0]) } ?? PayloadSchemas(),
            hasRegistrations: hasRegistrations, bytesMax: 1 << 20, depthMax: 128)
    }

    static func record(_ body: String) -> DeliveryRecord {
        let record = DeliveryRecord(
            of: IncomingMessage(unpublished: Array(body.utf8)), from: 0,
            Now(monotonic: MonotonicTime(nanoseconds: 0), unixNanoseconds: 0))
        record.id = UUIDValue(id)
        return record
    }

    func read(_ record: DeliveryRecord) -> Result<ReadRequest, RequestViolation> { reader.read(record) }

    func read(_ body: String) -> Result<ReadRequest, RequestViolation> { read(Self.record(body)) }

    /// Returns the audience of a request; nil for any other outcome.
    func audience(_ body: String) -> Audience? {
        if case .success(.audience(let audience)) = read(body) { audience } else { nil }
    }

    /// Returns the push of a request to a device or channel; nil for any other outcome.
    func push(_ body: String) -> PushRequest? {
        if case .success(.push(let request)) = read(body) { request } else { nil }
    }

    func violation(_ body: String) -> RequestViolation? {
        if case .failure(let violation) = read(body) { violation } else { nil }
    }
}

/// A push type with a valid payload, and with the kind of its tokens.
struct KindExample: Sendable {
    var pushType: PushType
    var payload: String
    var kind: TokenKind
    /// The scope in the payload; nil if the payload contains none.
    var payloadScope: String?

    static let all: [KindExample] = [
        KindExample(pushType: .alert, payload: #"{"aps":{"alert":"x"}}"#, kind: .device),
        KindExample(pushType: .background, payload: #"{"aps":{"content-available":1}}"#, kind: .device),
        KindExample(pushType: .complication, payload: "{}", kind: .complication),
        KindExample(pushType: .controls, payload: #"{"aps":{"content-changed":true}}"#, kind: .controls),
        KindExample(pushType: .fileprovider, payload: #"{"container-identifier":"x"}"#, kind: .fileprovider),
        KindExample(
            pushType: .liveactivity,
            payload: #"""
                {"aps":{"event":"start","timestamp":1,"content-state":{},"alert":"x","attributes-type":"Game",
                 "attributes":{}}}
                """#, kind: .liveactivityStart, payloadScope: "Game"),
        KindExample(
            pushType: .liveactivity, payload: #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#,
            kind: .liveactivity),
        KindExample(
            pushType: .liveactivity, payload: #"{"aps":{"event":"end","timestamp":1}}"#, kind: .liveactivity),
        KindExample(pushType: .location, payload: "{}", kind: .location),
        KindExample(pushType: .pushtotalk, payload: "{}", kind: .pushtotalk),
        KindExample(pushType: .voip, payload: "{}", kind: .voip),
        KindExample(pushType: .widgets, payload: #"{"aps":{"content-changed":true}}"#, kind: .widgets),
    ]

    /// Returns a request of this push type with further members, such as `"user":"ann"`.
    func request(_ members: String...) -> String {
        let own = [
            #""app":"\#(AudienceReader.app)""#, #""push_type":"\#(pushType.rawValue)""#, #""payload":\#(payload)"#,
        ]
        return "{\((own + members).joined(separator: ","))}"
    }
}
