import APNSProtocol
import Crypto
import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// A simulator, and providers that send handwritten frames. The tests compare answers with literals instead of the
/// project's own constants.
struct Wire {
    static let id = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    static let deviceToken = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0"
    static let alert = #"{"aps":{"alert":"Hi"}}"#

    /// APNs' addresses, as Apple prints them.
    enum Place {
        static let sandbox = Endpoint(host: "api.sandbox.push.apple.com", port: 443)
        static let production = Endpoint(host: "api.push.apple.com", port: 443)
        static let sandboxChannels = Endpoint(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)
        static let productionChannels = Endpoint(host: "api-manage-broadcast.push.apple.com", port: 2196)
    }

    let apns: VirtualAPNS
    /// The address that new connections use.
    private var place = Place.sandbox

    init(_ configure: (inout SimulatorConfiguration, inout SimulatorState) -> Void = { _, _ in }) throws {
        apns = try VirtualAPNS(configure)
        try apns.loop.enter {
            try apns.server.listen(on: Place.production, as: Service(.production, .push))
            try apns.server.listen(on: Place.sandboxChannels, as: Service(.sandbox, .channelManagement))
            try apns.server.listen(on: Place.productionChannels, as: Service(.production, .channelManagement))
        }
    }

    /// Returns the same simulator with another address for new connections.
    func at(_ place: Endpoint) -> Wire {
        var wire = self
        wire.place = place
        return wire
    }

    var loop: VirtualLoop { apns.loop }

    /// Opens a connection. If `waits` is true, waits for the server's first frame or the end of the connection.
    func connect(_ behavior: FramePeer.Behavior = .good, to endpoint: Endpoint? = nil, waits: Bool = true) -> FramePeer
    {
        let peer = FramePeer(behavior)
        loop.enter { _ = loop.connect(to: endpoint ?? place, handler: peer) }
        if waits { run { !peer.frames.isEmpty || peer.isClosed } }
        return peer
    }

    /// Runs the loop until `isDone` returns true, for at most a minute of virtual time. Returns whether `isDone`
    /// returned true.
    @discardableResult
    func run(until isDone: () -> Bool) -> Bool { loop.run(limit: .seconds(60), until: isDone) == .done }

    func wait(_ duration: Duration) {
        var isOver = false
        loop.enter { _ = loop.schedule(after: duration) { isOver = true } }
        _ = loop.run(limit: duration + .seconds(1), until: { isOver })
    }

    /// Returns the header fields of a valid alert push in the order of Apple's samples, with changes. A nil value
    /// removes a field. Additional names are appended.
    func fields(_ changes: KeyValuePairs<String, String?> = [:]) -> [(String, String)] {
        Self.fields(
            [
                (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(Self.deviceToken)"),
                (":authority", place.host), ("authorization", "bearer \(apns.token)"),
                ("apns-id", Self.id), ("apns-push-type", "alert"), ("apns-topic", "com.example.app"),
            ], changes)
    }

    /// Returns the header fields `good` with changes. A nil value removes a field. Additional names are appended.
    static func fields(
        _ good: [(String, String?)], _ changes: KeyValuePairs<String, String?>
    ) -> [(String, String)] {
        var fields = good
        for (name, value) in changes {
            if let place = fields.firstIndex(where: { $0.0 == name }) {
                fields[place].1 = value
            } else {
                fields.append((name, value))
            }
        }
        return fields.compactMap { name, value in value.map { (name, $0) } }
    }

    /// Sends a push, and waits for the answer or the end of the connection.
    ///
    /// - Parameter peer: The connection; nil for a new connection.
    func push(
        _ changes: KeyValuePairs<String, String?> = [:], more: [(String, String)] = [], body: String = alert,
        on peer: FramePeer? = nil
    ) -> WireAnswer {
        exchange(fields(changes) + more, body: Array(body.utf8), on: peer)
    }

    /// Sends a push with this type and topic. If `type` is nil, omits `apns-push-type`.
    func push(type: String?, topic: String, body: String = alert) -> WireAnswer {
        push(["apns-push-type": type, "apns-topic": topic], body: body)
    }

    func push(to deviceToken: String) -> WireAnswer { push([":path": "/3/device/\(deviceToken)"]) }

    /// Sends a request, and waits for the answer or the end of the connection.
    ///
    /// - Parameter stream: The stream; nil for the connection's next stream.
    func exchange(
        _ fields: [(String, String)], body: [UInt8], on peer: FramePeer? = nil, stream: UInt32? = nil
    ) -> WireAnswer {
        let peer = peer ?? connect()
        let stream = loop.enter { peer.request(fields, body: body, on: stream) }
        run { peer[stream].isComplete || peer.isClosed }
        return peer[stream]
    }
}

/// Expects an acceptance: one HEADERS frame that ends the stream, with status 200, `apns-id` and, in the sandbox,
/// `apns-unique-id`.
func expectAccepted(
    _ answer: WireAnswer, id: String? = Wire.id, in environment: APNSEnvironment = .sandbox,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.line == "200", sourceLocation: sourceLocation)
    #expect(answer.frames == ["HEADERS end_stream"], sourceLocation: sourceLocation)
    #expect(
        answer.headers.map(\.name) == [":status", "apns-id"] + (environment == .sandbox ? ["apns-unique-id"] : []),
        sourceLocation: sourceLocation)
    if let id { #expect(answer["apns-id"] == id, sourceLocation: sourceLocation) }
}

/// Expects a refusal: a HEADERS frame with the status and the IDs, and a final DATA frame with JSON.
///
/// - Parameters:
///   - body: The JSON.
///   - id: The value of `apns-id`; nil for a new ID of the server.
func expectRefused(
    _ answer: WireAnswer, _ status: Int, _ body: String, id: String? = Wire.id,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(answer.line == "\(status) \(body)", sourceLocation: sourceLocation)
    #expect(answer.frames == ["HEADERS", "DATA end_stream"], sourceLocation: sourceLocation)
    #expect(
        answer.headers.map(\.name) == [":status", "apns-id", "apns-unique-id", "content-type"],
        sourceLocation: sourceLocation)
    #expect(answer["content-type"] == "application/json", sourceLocation: sourceLocation)
    if let id {
        #expect(answer["apns-id"] == id, sourceLocation: sourceLocation)
    } else {
        #expect(answer["apns-id"].map(isUpperCaseUUID) == true, sourceLocation: sourceLocation)
    }
}

func isUpperCaseUUID(_ text: String) -> Bool {
    text.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{4}-[0-9A-F]{12}/) != nil
}

func isLowerCaseUUID(_ text: String) -> Bool {
    text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) != nil
}

extension Wire {
    /// Returns a provider token that was issued `ageSeconds` ago. Each part can be replaced.
    func token(
        of provider: Provider, header: String? = nil, claims: String? = nil, ageSeconds: Int64 = 0,
        signedBy signer: ES256PrivateKey? = nil
    ) throws -> String {
        let issuedAt = loop.now.unixSeconds - ageSeconds
        return try provider.token(
            header: header, claims: claims ?? #"{"iss":"\#(provider.teamID)","iat":\#(issuedAt)}"#, signedBy: signer)
    }

    /// Sends a push with another provider token.
    func push(with token: String, on peer: FramePeer? = nil) -> WireAnswer {
        push(["authorization": "bearer \(token)"], on: peer)
    }

    func change(_ body: (inout SimulatorState) -> Void) { loop.enter { body(&apns.server.state) } }
}
