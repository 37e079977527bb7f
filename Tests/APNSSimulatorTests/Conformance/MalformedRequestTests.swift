import APNSProtocol
import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Requests that break the rules of HTTP are reset, and the log has them (RFC 9113, 8.1.1 and 8.2.1).
@Suite struct MalformedRequestTests {
    private let wire: Wire

    init() throws {
        wire = try Wire()
    }

    private var logged: [LoggedRequest] { wire.loop.enter { wire.apns.server.memory.requests().requests } }

    @Test(arguments: [
        ("apns-topic", "com.example.app "), ("apns-topic", " com.example.app"), ("apns-topic", "com.example.app\t"),
        ("apns-collapse-id", "a\nb"), ("apns-collapse-id", "a\r\nx: y"), ("apns-collapse-id", "a\0b"),
        ("my header", "x"), ("", "x"), ("connection", "close"), ("te", "gzip"), ("upgrade", "h2c"),
        ("transfer-encoding", "chunked"), (":unknown", "x"),
    ])
    func aFieldThatNoRequestMayHave(name: String, value: String) throws {
        let peer = wire.connect()
        let answer = wire.push([name: value], on: peer)
        #expect(answer.frames == ["RST_STREAM"])
        #expect(peer.transcript.contains("RST_STREAM 1 PROTOCOL_ERROR"))
        expectAccepted(wire.push(on: peer))

        #expect(logged.map(\.isMalformed) == [true, false])
        #expect(logged[0].malformedField == name && logged[0].status == nil)
        // It may hold what nobody may see.
        #expect(logged[0].headers.last?.value == (name == ":unknown" ? "" : value))
        #expect(wire.apns.server.counters.requestsMalformed == 1)
        #expect(wire.apns.server.counters.requests == 1)
    }

    @Test func whatCameIsTold() throws {
        _ = wire.push(["apns-topic": "com.example.app "])
        var json = JSONWriter()
        logged[0].write(to: &json, .full)
        let told = try JSONDocument(json.bytes).root
        #expect(told["reset"]?.string == "PROTOCOL_ERROR")
        #expect(told["malformed_field"]?.string == "apns-topic")
        #expect(told["headers"]?.elements.reduce(nil) { $1["value"]?.string } == "com.example.app ")
        #expect(told["status"] == nil)
    }

    /// No single field is to blame.
    @Test func aLengthThatIsNotTheBodys() throws {
        let peer = wire.connect()
        #expect(wire.push(["content-length": "3"], on: peer).frames == ["RST_STREAM"])
        #expect(logged.map(\.isMalformed) == [true])
        #expect(logged.map(\.malformedField) == [nil])
    }

    @Test(arguments: ["authorization", "Authorization", "authorization ", "\tAuthorization"])
    func aSecretIsNotKept(name: String) throws {
        _ = wire.push(["authorization": nil, name: "bearer head.claims.signature "])
        let request = try #require(logged.first)
        #expect(request.malformedField == name)
        #expect(!request.headers.contains { $0.value.contains("signature") })
    }

    /// A client may end its streams with any code, and so may a fault.
    @Test(arguments: [true, false]) func whatIsResetOnPurposeIsNotMalformed(byClient: Bool) throws {
        let peer = wire.connect()
        let stream = wire.loop.enter {
            let stream = peer.newStream()
            peer.send(.headers(stream, HPACKWriter.block(wire.fields()), endsStream: false))
            return stream
        }
        wire.run { wire.apns.server.openConnections.first?.streamsOpen == 1 }
        try wire.loop.enter {
            if byClient {
                peer.send(.resetStream(stream, code: HTTP2ErrorCode.protocolError.rawValue))
            } else {
                _ = try wire.apns.server.perform(.resetStream(.protocolError))
            }
        }
        #expect(wire.run { wire.apns.server.openConnections.first?.streamsOpen == 0 })
        #expect(wire.apns.server.counters.requestsMalformed == 0)
    }
}
