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
        ("transfer-encoding", "chunked"), ("X-Up", "a"),
    ])
    func aFieldThatNoRequestMayHave(name: String, value: String) throws {
        let peer = wire.connect()
        let answer = wire.push([name: value], on: peer)
        #expect(answer.frames == ["RST_STREAM"])
        #expect(peer.transcript.contains("RST_STREAM 1 PROTOCOL_ERROR"))
        expectAccepted(wire.push(on: peer))

        #expect(logged.map(\.isMalformed) == [true, false])
        #expect(logged[0].malformedField == name && logged[0].status == nil)
        #expect(try told(0).value == (name == "X-Up" ? nil : value))
        #expect(wire.apns.server.counters.requestsMalformed == 1)
        #expect(wire.apns.server.counters.requests == 1)
    }

    /// Of fields that nghttp2 itself refuses, whatever stands in them: the value may be what nobody may see.
    @Test(arguments: [
        (":unknown", "x"), ("X-Up", ""), ("X-Up", "a\nb"), (":path", "/3/device/aa\n01"), ("X], value: [Y", "z"),
        ("connection", String(repeating: "a1", count: 32)), ("te", String(repeating: "x", count: 12_000)),
    ])
    func aFieldIsNamedWithoutItsValue(name: String, value: String) throws {
        #expect(wire.push([name: value]).frames == ["RST_STREAM"])
        let (field, shown) = try told(0)
        #expect(field == String(name.prefix { $0 != "]" }) && shown == nil)
        #expect(logged[0].malformedField == field)
    }

    /// The next in the same place has nothing of it.
    @Test func onlyItsOwnValueIsHidden() throws {
        let peer = wire.connect()
        #expect(wire.push(["X-Up": "a"], on: peer).frames == ["RST_STREAM"])
        #expect(wire.push(["content-length": "3"], on: peer).frames == ["RST_STREAM"])
        #expect(try told(0).value == nil)
        #expect(try told(1).value != nil)
    }

    /// What a peer writes cannot have it searched again and again.
    @Test func aValueThatLooksLikeTheWordsOfTheLibraryTakesNoTime() throws {
        let value = "\n" + String(repeating: ", name: [", count: 1500) + "\n"
        let nanoseconds = ProcessorClock.nanoseconds {
            for _ in 0..<3 { #expect(wire.push(["X-A": value]).frames == ["RST_STREAM"]) }
        }
        #expect(nanoseconds < 2_000_000_000)
        #expect(logged.map(\.malformedField) == ["X-A", "X-A", "X-A"])
    }

    /// The last header of a logged request, as the log writes it.
    private func told(_ index: Int) throws -> (name: String?, value: String?) {
        var json = JSONWriter()
        logged[index].write(to: &json, .full)
        let header = try JSONDocument(json.bytes).root["headers"]?.elements.reduce(nil) { $1 }
        return (header?["name"]?.string, header?["value"]?.string)
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
