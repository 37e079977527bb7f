import EventLoop
import TestKit
import Testing

@testable import APNSSimulator

/// Tests of hostile or broken clients. Limits end their streams or connections, and other clients are not affected.
@Suite struct HostileClientTests {
    private static let calm = "ENHANCE_YOUR_CALM"

    /// Waits for the end of the peer's connection. Returns the duration in seconds of virtual time.
    private func secondsUntilClosed(_ peer: FramePeer, _ wire: Wire) -> Int64 {
        let start = wire.loop.now.monotonic
        _ = wire.loop.run(limit: .seconds(600), until: { peer.isClosed })
        #expect(peer.isClosed)
        return start.duration(to: wire.loop.now.monotonic).components.seconds
    }

    private static let halfOpenings: [[UInt8]] = [
        [], Array("PRI * HTTP".utf8), HTTP2Frame.preface, HTTP2Frame.preface + [0, 0, 6, 4],
        HTTP2Frame.preface + HTTP2Frame.settings((3, 1)).bytes.dropLast(),
    ]

    @Test(arguments: halfOpenings) func incompleteHandshakesTimeOut(bytes: [UInt8]) throws {
        let wire = try Wire()
        let beside = wire.connect()
        let peer = wire.connect(FramePeer.Behavior(greeting: bytes))
        #expect((9...11).contains(secondsUntilClosed(peer, wire)))
        expectAccepted(wire.push(on: beside))
        // An established connection may be idle.
        wire.wait(.seconds(3600))
        #expect(!beside.isClosed)
    }

    @Test func incompleteHeaderBlocksTimeOut() throws {
        let wire = try Wire()
        let beside = wire.connect()
        let peer = wire.connect()
        wire.loop.enter { peer.send(.headers(1, HPACKWriter.block(wire.fields()), endsHeaders: false)) }
        #expect(wire.loop.run(limit: .seconds(61), until: { peer[1].isComplete }) == .done)
        #expect(peer.transcript.last == "RST_STREAM 1 CANCEL")
        #expect(wire.apns.server.counters.requests == 0)
        expectAccepted(wire.push(on: beside))
    }

    @Test func incompleteBodiesTimeOut() throws {
        let wire = try Wire()
        let peer = wire.connect()
        wire.loop.enter {
            peer.send(.headers(1, HPACKWriter.block(wire.fields())), .data(1, [1, 2], ends: false))
        }
        #expect(wire.loop.run(limit: .seconds(61), until: { peer[1].isComplete }) == .done)
        #expect(peer.transcript.last == "RST_STREAM 1 CANCEL")
        #expect(wire.apns.server.counters.requests == 0)
        expectAccepted(wire.exchange(wire.fields(), body: Array(Wire.alert.utf8), on: peer, stream: 3))
    }

    // The timeout applies to the client, not to delayed answers.
    @Test func delayedAnswersDoNotTimeOut() throws {
        let wire = try Wire { configuration, _ in configuration.answerDelay = .seconds(300) }
        let peer = wire.connect()
        wire.loop.enter { _ = peer.request(wire.fields(), body: Array(Wire.alert.utf8)) }
        #expect(wire.loop.run(limit: .seconds(301), until: { peer[1].isComplete }) == .done)
        expectAccepted(peer[1])
    }

    @Test func unreadAnswersTimeOut() throws {
        let wire = try Wire()
        let settings = HTTP2Frame.settings((HTTP2Frame.Setting.initialWindowSize, 0)).bytes
        let peer = wire.connect(FramePeer.Behavior(greeting: HTTP2Frame.preface + settings))
        wire.loop.enter { _ = peer.request(wire.fields([":path": "/"]), body: Array(Wire.alert.utf8)) }
        #expect(wire.loop.run(limit: .seconds(61), until: { peer[1].isComplete }) == .done)
        #expect(peer[1].frames == ["HEADERS", "RST_STREAM"])
        #expect(peer[1].resetCode == 8)
    }

    @Test func aClientThatDoesNotRead() throws {
        let wire = try Wire { _, state in state.rules.gate = .off }
        let peer = wire.connect()
        wire.loop.enter {
            peer.pauseReading()
            for _ in 0..<999 { peer.request(wire.fields([":path": "/"]), body: Array(Wire.alert.utf8)) }
        }
        wire.wait(.seconds(30))
        #expect(wire.apns.server.counters.requests == 999)
        #expect(wire.apns.server.counters.connectionsOpen == 1)
        wire.wait(.seconds(31))
        #expect(wire.apns.server.counters.connectionsOpen == 0)
    }

    struct Flood: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var setUp: [HTTP2Frame] = []
        var frame: @Sendable (UInt32) -> [HTTP2Frame]
    }

    private static func request(_ stream: UInt32, ends: Bool = true) -> HTTP2Frame {
        .headers(
            stream,
            HPACKWriter.indexed(3) + HPACKWriter.indexed(7) + HPACKWriter.literal(nameOf: 4, "/3/device/aa")
                + HPACKWriter.literal(nameOf: 1, "a"), endsStream: ends)
    }

    private static let floods = [
        Flood(testDescription: "PING") { [.ping(UInt64($0))] },
        Flood(testDescription: "SETTINGS") { [.settings((3, $0))] },
        Flood(testDescription: "PRIORITY") { [.priority($0 * 2 + 1, dependsOn: 0)] },
        Flood(testDescription: "WINDOW_UPDATE") { _ in [.windowUpdate(by: 1)] },
        Flood(testDescription: "empty DATA", setUp: [request(1, ends: false)]) { _ in [.data(1, [], ends: false)] },
        Flood(testDescription: "frames of an unknown type") { _ in
            [HTTP2Frame(type: 0x42, payload: [UInt8](repeating: 0, count: HTTP2Frame.payloadBytesMax))]
        },
        Flood(testDescription: "RST_STREAM of an ended stream", setUp: [request(1)]) { _ in
            [.resetStream(1, code: 8)]
        },
        Flood(testDescription: "requests that are reset immediately") { number in
            [request(number * 2 + 1), .resetStream(number * 2 + 1, code: 8)]
        },
        Flood(testDescription: "requests that are reset before they are complete") { number in
            [request(number * 2 + 1, ends: false), .resetStream(number * 2 + 1, code: 8)]
        },
        Flood(testDescription: "refused streams", setUp: [request(1, ends: false)]) { [request($0 * 2 + 3)] },
    ]

    @Test(arguments: floods) func closesTheConnection(flood: Flood) throws {
        let wire = try Wire { configuration, _ in
            configuration.answerDelay = .seconds(1)
            configuration.idleFramesMax = 1000
        }
        let beside = wire.connect()
        let peer = wire.connect()
        wire.loop.enter { peer.write(flood.setUp.flatMap(\.bytes)) }
        wire.loop.enter { peer.write((0..<1500).flatMap(flood.frame).flatMap(\.bytes)) }
        #expect(wire.run { peer.isClosed })
        let end = peer.transcript.last { $0.hasPrefix("GOAWAY") } ?? "nothing"
        #expect(end.contains(Self.calm), "\(end)")
        expectAccepted(wire.push(on: beside))
    }

    /// A client sends frequent PING frames between its pushes.
    @Test func validTrafficIsNotAFlood() throws {
        let wire = try Wire()
        let peer = wire.connect()
        for second in 0..<30 as Range<UInt64> {
            wire.loop.enter { for number in 0..<900 as Range<UInt64> { peer.send(.ping(second << 32 | number)) } }
            expectAccepted(wire.push(on: peer))
            wire.wait(.seconds(1))
        }
        #expect(!peer.isClosed)
    }

    struct HeaderFlood: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var frames: [HTTP2Frame]
        var answer = "RST_STREAM 1 ENHANCE_YOUR_CALM"
    }

    private static func headerLists(_ block: (Int) -> [UInt8]) -> [HTTP2Frame] {
        (0..<100).map { .headers(UInt32($0 * 2 + 1), block($0), endsStream: true) }
    }

    private static let headerFloods = [
        HeaderFlood(
            testDescription: "CONTINUATION without end",
            frames: [.headers(1, [], endsHeaders: false)]
                + (0..<1000).map { _ in .continuation(1, HPACKWriter.literal("a", "b")) },
            answer: "GOAWAY 1 ENHANCE_YOUR_CALM Too many CONTINUATION frames following a HEADER frame"),
        HeaderFlood(
            testDescription: "empty CONTINUATION without end",
            frames: [.headers(1, [], endsHeaders: false)] + (0..<1000).map { _ in .continuation(1, []) },
            answer: "GOAWAY 1 ENHANCE_YOUR_CALM Too many CONTINUATION frames following a HEADER frame"),
        HeaderFlood(
            testDescription: "a list of many fields",
            frames: headerLists { _ in (0..<1500).flatMap { HPACKWriter.literal("a\($0)", "bc") } }),
        HeaderFlood(
            testDescription: "one huge field",
            frames: headerLists { _ in HPACKWriter.literal("a", String(repeating: "b", count: 16_000)) }),
        HeaderFlood(
            testDescription: "a small block that expands to a large list",
            frames: headerLists { number in
                HPACKWriter.literal("a", String(repeating: "b", count: 4000), as: .incremental)
                    + [UInt8](repeating: 0xBE, count: 12_000)
            }),
    ]

    @Test(arguments: headerFloods) func isReset(flood: HeaderFlood) throws {
        let wire = try Wire()
        let beside = wire.connect()
        let peer = wire.connect()
        wire.loop.enter { peer.write(flood.frames.flatMap(\.bytes)) }
        wire.run { peer.isClosed || peer[199].isComplete }
        #expect(peer.transcript.contains(flood.answer), "\(peer.transcript)")
        #expect(wire.apns.server.counters.requests == 0)
        expectAccepted(wire.push(on: beside))
    }

    @Test func newHalfOpenConnectionsReplaceTheOldest() throws {
        let wire = try Wire { configuration, _ in configuration.halfOpenMax = 10 }
        let beside = wire.connect()
        let silent = (0..<25).map { _ in
            let peer = wire.connect(.silent, waits: false)
            wire.wait(.milliseconds(10))
            return peer
        }
        #expect(silent.map(\.isClosed) == (0..<25).map { $0 < 15 })
        expectAccepted(wire.push(on: wire.connect()))
        expectAccepted(wire.push(on: beside))
        wire.wait(.seconds(11))
        #expect(silent.allSatisfy { $0.isClosed })
        #expect(wire.apns.server.counters.connectionsOpen == 2)
    }

    // At the limit, a new connection replaces an unauthenticated connection.
    @Test func authenticatedConnectionsAreKept() throws {
        let wire = try Wire { configuration, _ in configuration.connectionsMax = 4 }
        let good = [wire.connect(), wire.connect()]
        for peer in good { expectAccepted(wire.push(on: peer)) }
        let idle = [wire.connect(), wire.connect()]
        let new = wire.connect()
        wire.run { idle[0].isClosed }
        #expect(idle.map(\.isClosed) == [true, false])
        expectAccepted(wire.push(on: new))
        let another = wire.connect()
        wire.run { idle[1].isClosed }
        #expect(idle.map(\.isClosed) == [true, true])
        expectAccepted(wire.push(on: another))
        // All connections are now authenticated.
        #expect(wire.connect().isClosed)
        for peer in good + [new, another] { expectAccepted(wire.push(on: peer)) }
    }
}
