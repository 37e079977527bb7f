import APNSProtocol
import EventLoop
import HTTP2
import JSON
import TestKit
import Testing

@testable import APNSSimulator

/// Requests that violate HTTP, which the simulator resets and logs (RFC 9113, 8.1.1 and 8.2.1).
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
    func forbiddenFieldsAreLogged(name: String, value: String) throws {
        let peer = wire.connect()
        let answer = wire.push([name: value], on: peer)
        #expect(answer.frames == ["RST_STREAM"])
        #expect(peer.transcript.contains("RST_STREAM 1 PROTOCOL_ERROR"))
        expectAccepted(wire.push(on: peer))

        #expect(logged.map(\.isMalformed) == [true, false])
        #expect(logged[0].malformedField == name && logged[0].status == nil)
        #expect(try lastHeader(0).value == (name == "X-Up" ? nil : value))
        #expect(wire.apns.server.counters.requestsMalformed == 1)
        #expect(wire.apns.server.counters.requests == 1)
    }

    // The log hides the values of these fields, which may be secrets.
    @Test(arguments: [
        (":unknown", "x"), ("X-Up", ""), ("X-Up", "a\nb"), (":path", "/3/device/aa\n01"), ("X], value: [Y", "z"),
        ("connection", String(repeating: "a1", count: 32)), ("te", String(repeating: "x", count: 12_000)),
    ])
    func valuesOfRefusedFieldsAreHidden(name: String, value: String) throws {
        #expect(wire.push([name: value]).frames == ["RST_STREAM"])
        let (field, shown) = try lastHeader(0)
        #expect(field == String(name.prefix { $0 != "]" }) && shown == nil)
        #expect(logged[0].malformedField == field)
    }

    // A later request in the same slot does not inherit the hidden value.
    @Test func laterRequestsHideNothing() throws {
        let peer = wire.connect()
        #expect(wire.push(["X-Up": "a"], on: peer).frames == ["RST_STREAM"])
        #expect(wire.push(["content-length": "3"], on: peer).frames == ["RST_STREAM"])
        #expect(try lastHeader(0).value == nil)
        #expect(try lastHeader(1).value != nil)
    }

    // A value that contains messages of the library must not cause repeated searches.
    @Test func libraryMessagesInValuesTakeNoTime() throws {
        let value = "\n" + String(repeating: ", name: [", count: 1500) + "\n"
        let nanoseconds = ProcessorClock.nanoseconds {
            for _ in 0..<3 { #expect(wire.push(["X-A": value]).frames == ["RST_STREAM"]) }
        }
        #expect(nanoseconds < 2_000_000_000)
        #expect(logged.map(\.malformedField) == ["X-A", "X-A", "X-A"])
    }

    /// Returns the name and the value of the last header of a logged request.
    private func lastHeader(_ index: Int) throws -> (name: String?, value: String?) {
        var json = JSONWriter()
        logged[index].write(to: &json, .full)
        let header = try JSONDocument(json.bytes).root["headers"]?.elements.reduce(nil) { $1 }
        return (header?["name"]?.string, header?["value"]?.string)
    }

    @Test func validFieldsAreLogged() throws {
        _ = wire.push(["apns-topic": "com.example.app "])
        var json = JSONWriter()
        logged[0].write(to: &json, .full)
        let logged = try JSONDocument(json.bytes).root
        #expect(logged["reset"]?.string == "PROTOCOL_ERROR")
        #expect(logged["malformed_field"]?.string == "apns-topic")
        #expect(logged["headers"]?.elements.reduce(nil) { $1["value"]?.string } == "com.example.app ")
        #expect(logged["status"] == nil)
    }

    // No single field is the cause, so the log names no field.
    @Test func wrongContentLength() throws {
        let peer = wire.connect()
        #expect(wire.push(["content-length": "3"], on: peer).frames == ["RST_STREAM"])
        #expect(logged.map(\.isMalformed) == [true])
        #expect(logged.map(\.malformedField) == [nil])
    }

    @Test(arguments: ["authorization", "Authorization", "authorization ", "\tAuthorization"])
    func secretsAreNotKept(name: String) throws {
        _ = wire.push(["authorization": nil, name: "bearer head.claims.signature "])
        let request = try #require(logged.first)
        #expect(request.malformedField == name)
        #expect(!request.headers.contains { $0.value.contains("signature") })
    }

    // A client or a fault may reset streams with any code.
    @Test(arguments: [true, false]) func intentionalResetsAreNotMalformed(byClient: Bool) throws {
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
