import APNSProtocol
import Crypto
import EventLoop

/// A body that the simulation publishes under an id, once or more, and how it must end.
struct SimulatedMessage {
    enum Kind: CaseIterable {
        case alert
        case background
        case voip
        /// `expiration` 0: one try. The broker expires it, too, if no worker takes it in time.
        case urgent
        /// Expires while the run lasts.
        case perishable
        /// Its device is throttled now and then.
        case throttled
        /// Its token is dead: 410.
        case unregistered
        /// Its token never was: 400.
        case badToken
        /// Its token is registered only after it was refused; then somebody moves the dead letter back.
        case redriven
        case expired
        /// Breaks the schema.
        case withoutPayload
        case notJSON
        /// For an environment that its app has no key for.
        case pinned
        /// Whatever worker pushes it dies.
        case poison
    }

    static let throttledPrefix = "7407"
    static let perishesAfterSeconds: Int64 = 200

    let kind: Kind
    let id: UUIDValue
    let app: Int
    let environment: APNSEnvironment
    let body: [UInt8]
    /// Empty when nothing is sent.
    let payload: [UInt8]
    let deviceToken: String
    /// In UNIX seconds.
    let expiration: Int64?
    /// Copies with the same id and body are published by producers that got no confirm.
    var publishedAfterMilliseconds: [Int] = []
    /// Published, with the same id, once this one is a dead letter.
    var correction: Int?

    /// - Parameter number: told apart by it are all bodies of a run.
    init(_ kind: Kind, number: Int, id: UUIDValue, random: inout SeededRandom) {
        self.kind = kind
        self.id = id
        app = kind == .pinned ? SimulatedApps.pinnedApp : random.below(SimulatedApps.count)
        environment =
            if kind == .pinned { .production } else if app == SimulatedApps.pinnedApp { .sandbox } else {
                random.chance(percent: 50) ? .production : .sandbox
            }
        expiration =
            switch kind {
            case .urgent: 0
            case .perishable: 1_767_225_600 + Self.perishesAfterSeconds
            case .expired: 1_700_000_000
            default: nil
            }
        let digits = String(number, radix: 16)
        deviceToken = Self.tokenPrefix(kind) + String(repeating: "0", count: 60 - digits.count) + digits
        let padding = String(repeating: "x", count: random.below(300))
        let text =
            kind == .background
            ? #"{"aps":{"content-available":1},"n":\#(number)}"#
            : #"{"aps":{"alert":{"title":"\#(number)","body":"\#(padding)"}}}"#
        payload = Self.isSent(kind) ? Array(text.utf8) : []
        if kind == .notJSON {
            body = Array("this is message \(number)".utf8)
            return
        }
        var members = [
            #""id":"\#(id)""#, #""app":"\#(SimulatedApps.bundleID(app))""#,
            #""environment":"\#(environment.rawValue)""#, #""device_token":"\#(deviceToken)""#,
            #""push_type":"\#(Self.pushType(kind))""#,
        ]
        if kind == .background { members.append(#""priority":5"#) }
        if let expiration { members.append(#""expiration":\#(expiration)"#) }
        if kind != .withoutPayload { members.append(#""payload":"# + text) }
        body = Array("{\(members.joined(separator: ","))}".utf8)
    }

    private static func tokenPrefix(_ kind: Kind) -> String {
        switch kind {
        case .unregistered: "dead"
        case .badToken, .redriven: "bad0"
        case .throttled: throttledPrefix
        case .poison: "f00d"
        default: "a11f"
        }
    }

    private static func pushType(_ kind: Kind) -> PushType {
        switch kind {
        case .background: .background
        case .voip: .voip
        default: .alert
        }
    }

    private static func isSent(_ kind: Kind) -> Bool {
        switch kind {
        case .expired, .withoutPayload, .notJSON, .pinned: false
        default: true
        }
    }

    /// The AMQP property `expiration`, in milliseconds.
    var timeToLive: String? { kind == .urgent ? "2000" : nil }

    var key: Int { SimulatedApps.key(of: app) }

    /// Whether the workers' key is not for its environment.
    var isForBoundKey: Bool { key == SimulatedApps.boundKey && environment == .sandbox && !payload.isEmpty }
}
