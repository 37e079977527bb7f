import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of frames that violate HTTP/2 (RFC 9113). Each frame closes the connection or resets its stream with the
/// specified code. Other clients are not affected.
@Suite struct MalformedFrameTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var bytes: [UInt8]
        /// The answer as a line of the transcript, or the beginning of the line of a GOAWAY.
        var answer: String

        init(_ name: String, _ frames: HTTP2Frame..., answer: String) {
            testDescription = name
            bytes = frames.flatMap(\.bytes)
            self.answer = answer
        }

        init(_ name: String, bytes: [UInt8], answer: String) {
            testDescription = name
            self.bytes = bytes
            self.answer = answer
        }
    }

    private static let get = HPACKWriter.block([
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/aa"), (":authority", "a"),
    ])

    private static let connectionErrors = [
        Case("DATA on stream 0", .data(0, [1]), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on an idle stream", .data(1, [1]), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("DATA on an even stream", .data(2, [1]), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("HEADERS on stream 0", .headers(0, get), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("HEADERS on an even stream", .headers(2, get), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "HEADERS with more padding than payload",
            HTTP2Frame(type: 1, flags: 0x0C, stream: 1, payload: [200, 1]), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "HEADERS without end, then another frame", .headers(1, get, endsHeaders: false), .ping(1),
            answer: "GOAWAY 1 PROTOCOL_ERROR"),
        Case(
            "HEADERS without end, then CONTINUATION of another stream", .headers(1, get, endsHeaders: false),
            .continuation(3, [], endsHeaders: true), answer: "GOAWAY 1 PROTOCOL_ERROR"),
        Case("CONTINUATION without HEADERS", .continuation(1, get), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("HPACK index 0", .headers(1, [0x80]), answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case("HPACK index beyond the table", .headers(1, [0xFF, 0x7F]), answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case(
            "HPACK table larger than allowed", .headers(1, HPACKWriter.tableSizeUpdate(65_536) + get),
            answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case(
            "HPACK integer without end", .headers(1, [0xFF] + [UInt8](repeating: 0xFF, count: 20)),
            answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case("HPACK text beyond the block", .headers(1, [0x00, 0x7F, 0x61]), answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case(
            "HPACK text with a bad Huffman code", .headers(1, [0x00, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x00]),
            answer: "GOAWAY 1 COMPRESSION_ERROR"),
        Case("RST_STREAM on stream 0", .resetStream(0, code: 8), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("RST_STREAM on an idle stream", .resetStream(5, code: 8), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "RST_STREAM of three bytes", HTTP2Frame(type: 3, stream: 1, payload: [0, 0, 8]),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "SETTINGS of five bytes", HTTP2Frame(type: 4, payload: [0, 3, 0, 0, 1]),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "SETTINGS on a stream", HTTP2Frame(type: 4, stream: 1), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "SETTINGS acknowledgment with entries",
            HTTP2Frame(type: 4, flags: 1, payload: [0, 3, 0, 0, 0, 1]), answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case("ENABLE_PUSH of 2", .settings((2, 2)), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "INITIAL_WINDOW_SIZE above the maximum", .settings((4, 0x8000_0000)),
            answer: "GOAWAY 0 FLOW_CONTROL_ERROR"),
        Case("MAX_FRAME_SIZE below the minimum", .settings((5, 100)), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "PUSH_PROMISE", HTTP2Frame(type: 5, flags: 4, stream: 1, payload: [0, 0, 0, 2]),
            answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "PING of seven bytes", HTTP2Frame(type: 6, payload: [1, 2, 3, 4, 5, 6, 7]),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "PING on a stream", HTTP2Frame(type: 6, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
            answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "GOAWAY of seven bytes", HTTP2Frame(type: 7, payload: [0, 0, 0, 0, 0, 0, 0]),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "GOAWAY on a stream", HTTP2Frame(type: 7, stream: 1, payload: [0, 0, 0, 0, 0, 0, 0, 0]),
            answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case("WINDOW_UPDATE by 0", .windowUpdate(by: 0), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "WINDOW_UPDATE above the maximum window", .windowUpdate(by: 0x7FFF_FFFF), .windowUpdate(by: 1),
            answer: "GOAWAY 0 FLOW_CONTROL_ERROR"),
        Case("WINDOW_UPDATE of an idle stream", .windowUpdate(3, by: 1), answer: "GOAWAY 0 PROTOCOL_ERROR"),
        Case(
            "PRIORITY of four bytes", HTTP2Frame(type: 2, stream: 1, payload: [0, 0, 0, 0]),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "a frame above the announced limit",
            bytes: HTTP2Frame(type: 0, stream: 1).header(announcing: 16_385), answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "a frame of 16 megabytes", bytes: HTTP2Frame(type: 0x42, stream: 1).header(announcing: 0xFF_FFFF),
            answer: "GOAWAY 0 FRAME_SIZE_ERROR"),
        Case(
            "a stream that depends on itself", .headers(1, get), .priority(1, dependsOn: 1),
            answer: "GOAWAY 1 PROTOCOL_ERROR"),
        Case(
            "WINDOW_UPDATE of a stream by 0", .headers(1, get), .windowUpdate(1, by: 0),
            answer: "GOAWAY 1 PROTOCOL_ERROR"),
    ]

    @Test(arguments: connectionErrors) func closesTheConnection(_ malformed: Case) throws {
        let wire = try Wire()
        let beside = wire.connect()
        let peer = wire.connect()
        wire.loop.enter { peer.write(malformed.bytes) }
        #expect(wire.run { peer.isClosed })
        #expect(peer.transcript.last?.hasPrefix(malformed.answer) == true, "\(peer.transcript)")
        expectAccepted(wire.push(on: beside))
        #expect(wire.apns.server.counters.connectionsOpen == 1)
    }

    private static func request(_ fields: [(String, String)]) -> HTTP2Frame { .headers(1, HPACKWriter.block(fields)) }

    private static let good: [(String, String)] = [
        (":method", "POST"), (":scheme", "https"), (":path", "/3/device/aa"), (":authority", "a"),
    ]

    private static let streamErrors = [
        Case("no :method", request(Array(good.dropFirst())), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("no :path", request(good.filter { $0.0 != ":path" }), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("no :scheme", request(good.filter { $0.0 != ":scheme" }), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "an empty :path", request(good.map { $0.0 == ":path" ? ($0.0, "") : $0 }),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("neither :authority nor host", request(Array(good.dropLast())), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("an unknown pseudo-header", request(good + [(":new", "1")]), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(":status in a request", request([(":status", "200")] + good), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "a pseudo-header after other fields", request(Array(good.dropFirst()) + [("a", "b"), (":method", "POST")]),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("connection", request(good + [("connection", "close")]), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "transfer-encoding", request(good + [("transfer-encoding", "chunked")]),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case("te other than trailers", request(good + [("te", "gzip")]), answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "content-length that is not a number", request(good + [("content-length", "x")]),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "less body than content-length", request(good + [("content-length", "5")]), .data(1, [1]),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "more body than content-length", request(good + [("content-length", "1")]), .data(1, [1, 2]),
            answer: "RST_STREAM 1 PROTOCOL_ERROR"),
        Case(
            "WINDOW_UPDATE of a stream above the maximum window", .headers(1, get), .windowUpdate(1, by: 0x7FFF_FFFF),
            answer: "RST_STREAM 1 FLOW_CONTROL_ERROR"),
    ]

    @Test(arguments: streamErrors) func resetsTheStream(_ malformed: Case) throws {
        let wire = try Wire()
        let peer = wire.connect()
        wire.loop.enter { peer.write(malformed.bytes) }
        #expect(wire.run { peer.transcript.contains { $0.hasPrefix("RST_STREAM") } || peer.isClosed })
        #expect(peer.transcript.contains(malformed.answer), "\(peer.transcript)")
        // The connection continues.
        expectAccepted(wire.exchange(wire.fields(), body: Array(Wire.alert.utf8), on: peer, stream: 5))
        #expect(wire.apns.server.counters.requests == 1)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: api.push.apple.com\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n\u{0}\u{0}\u{0}\u{4}",
        String(repeating: "\u{0}", count: 24),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u{0}\u{0}\u{8}\u{6}\u{0}\u{0}\u{0}\u{0}\u{0}12345678",
    ])
    func otherProtocolsCloseTheConnection(text: String) throws {
        let wire = try Wire()
        let peer = wire.connect(FramePeer.Behavior(greeting: Array(text.utf8)))
        #expect(wire.run { peer.isClosed })
        #expect(wire.apns.server.counters.connectionsOpen == 0)
        expectAccepted(wire.push())
    }
}
