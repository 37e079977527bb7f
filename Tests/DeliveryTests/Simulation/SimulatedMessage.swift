import APNSProtocol
import Crypto
import EventLoop

/// A request that the simulation publishes once or several times, with its kind.
struct SimulatedMessage {
    enum Kind: CaseIterable {
        case alert
        case background
        case voip
        /// A request whose JSON member `expiration` is 0, which permits one attempt. Its AMQP property `expiration`
        /// lets the broker expire the request if no worker consumes it in time.
        case urgent
        /// A request that expires during the run.
        case perishable
        /// A request for a device that is throttled at times.
        case throttled
        /// A request for an unregistered token (410).
        case unregistered
        /// A request for a token that never existed (400).
        case badToken
        /// A request for a token that is registered only after a refusal. An operator then redrives the dead letter.
        case redriven
        case expired
        /// A request that violates the schema.
        case withoutPayload
        case notJSON
        /// A request for an environment in which the app has no key.
        case pinned
        /// A request that kills each worker that pushes it.
        case poison
    }

    static let throttledPrefix = "7407"
    static let perishesAfterSeconds: Int64 = 200

    let kind: Kind
    let id: UUIDValue
    let app: Int
    let environment: APNSEnvironment
    let body: [UInt8]
    /// The payload; empty if the request is never pushed.
    let payload: [UInt8]
    let deviceToken: String
    /// The expiration in UNIX seconds, or 0 for one attempt; nil without an expiration.
    let expiration: Int64?
    /// The times of all publishes. A producer that receives no confirm publishes the same id and body again.
    var publishedAfterMilliseconds: [Int] = []
    /// The index of a corrected request with the same id, published when this request is a dead letter; nil without a
    /// correction.
    var correction: Int?

    /// Creates a request with random properties.
    ///
    /// - Parameter number: Unique in a run, so that all bodies differ.
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

    /// The AMQP property `expiration`, in milliseconds; nil for none.
    var timeToLive: String? { kind == .urgent ? "2000" : nil }

    var key: Int { SimulatedApps.key(of: app) }

    /// Whether the worker pushes the request with the bound key in the sandbox, where the key is at first invalid.
    var isForBoundKey: Bool { key == SimulatedApps.boundKey && environment == .sandbox && !payload.isEmpty }
}
