import APNSProtocol
import Crypto
import EventLoop

@testable import APNSSimulator

/// A provider's team with its key and app, and a simulator's state with this team.
struct Provider {
    static let now = Now(
        monotonic: MonotonicTime(nanoseconds: 5_000_000_000), unixNanoseconds: 1_760_000_000_000_000_000)

    let teamID: String
    let keyID: String
    let key: ES256PrivateKey

    init(teamID: String = "TEAM000001", keyID: String = "KEY0000001") throws {
        self.teamID = teamID
        self.keyID = keyID
        key = try ES256PrivateKey.generate()
    }

    func registered(environments: Set<APNSEnvironment> = [.production, .sandbox]) throws -> RegisteredKey {
        RegisteredKey(id: keyID, teamID: teamID, publicKey: try key.publicKey(), environments: environments)
    }

    func state() throws -> SimulatorState {
        var state = SimulatorState()
        state.add(try registered())
        state.addApp(bundleID: "com.example.app", teamID: teamID)
        state.unknownDevices = .active
        return state
    }

    /// Returns a provider token that was issued `ageSeconds` ago. Each part can be replaced.
    func token(
        header: String? = nil, claims: String? = nil, ageSeconds: Int64 = 60, signature: [UInt8]? = nil,
        signedBy signer: ES256PrivateKey? = nil
    ) throws -> String {
        let issuedAt = Self.now.unixSeconds - ageSeconds
        let header = Base64URL.encode(Array((header ?? #"{"alg":"ES256","kid":"\#(keyID)"}"#).utf8))
        let claims = Base64URL.encode(Array((claims ?? #"{"iss":"\#(teamID)","iat":\#(issuedAt)}"#).utf8))
        let signed = "\(header).\(claims)"
        let signature = try signature ?? (signer ?? key).sign(Array(signed.utf8))
        return "\(signed).\(Base64URL.encode(signature))"
    }
}

/// A connection whose requests, as lists of headers, are passed directly to the simulator's rules.
struct Conversation {
    private let rules = SimulatorRules()
    private var random = SeededRandom(seed: 1)
    var state: SimulatorState
    var connection = ConnectionMemory()
    var rates = RateLimit()
    var now = Provider.now
    /// The provider token of each push that sets no other token.
    var token: String

    init(_ provider: Provider, options: RuleOptions = RuleOptions()) throws {
        state = try provider.state()
        state.rules = options
        token = try provider.token()
    }

    static let deviceToken = String(repeating: "0123456789abcdef", count: 4)

    /// Sends a valid alert push with changed headers; nil removes a header. Returns the answer.
    mutating func push(
        _ changes: [String: String?] = [:], more: [(String, String)] = [], body: String = #"{"aps":{"alert":"Hi"}}"#
    ) -> String {
        var headers = [
            ":method": "POST", ":path": "/3/device/\(Self.deviceToken)", "authorization": "bearer \(token)",
            "apns-topic": "com.example.app", "apns-push-type": "alert",
            "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b",
        ]
        for (name, value) in changes { headers[name] = value }
        return text(of: answer(to: headers.sorted(by: { $0.key < $1.key }) + more, body: body))
    }

    mutating func answer(to headers: [(String, String)], body: String = "") -> Answer {
        let request = Request()
        for (name, value) in headers {
            withBytes(name) { name in withBytes(value) { request.addHeader(name: name, value: $0) } }
        }
        withBytes(body) { request.addBody($0) }
        return rules.decision(
            about: request, on: &connection, rates: &rates, state: &state, now: now, random: &random
        ).answer
    }

    /// Returns the status and the body of an answer.
    func text(of answer: Answer) -> String {
        let body = String(decoding: answer.bodyBytes, as: UTF8.self)
        return body.isEmpty ? "\(answer.status)" : "\(answer.status) \(body)"
    }

    /// Sends a push with this type and topic. If `type` is nil, omits `apns-push-type`.
    mutating func push(type: String?, topic: String, body: String = #"{"aps":{"alert":"Hi"}}"#) -> String {
        push(["apns-push-type": type, "apns-topic": topic], body: body)
    }
}

func withBytes<Result>(_ text: String, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes { body($0) }
}
