import EventLoop
import JSON
import TLS
import TestKit
import Testing

extension ToolTests {
    /// Clients that mean no good, beside one that does.
    @Suite struct HostileTraffic {
        private static let requestsBefore = 5000
        private static let requests = LongForm.pick(60_000, short: 20_000)
        /// What a push may cost beside the crowd in terms of what it costs alone. 1.2 to 1.7 times were seen, and 0.58
        /// to 0.87 of the rate by the clock; other work on the same processors takes its part of either.
        private static let costMax = 3
        /// Two thousand connections that are not open yet have 150 KB each with what TLS and HTTP/2 keep of them.
        private static let residentMebibytesMax = 400

        /// Its rate is told by what the simulator spends on it: crowd and load generator run on the same processors,
        /// and take from each other and from the simulator what other machines would not.
        @Test func aGoodClientIsServedAtLimitedCost() async throws {
            let directory = try TemporaryDirectory("hostile")
            let simulator = try await SimulatorProcess(in: directory, options: ["--gate", "off"])
            let load = try LoadGenerator(
                connections: 4, streams: 100, devices: 1000, authorization: try simulator.authorization(),
                in: directory)
            let authority = try directory.read("ca.pem")
            // Each push is answered with 200, or this throws.
            @Sendable func time(_ requests: Int) async throws -> Duration {
                let before = simulator.process.processorTime
                _ = try await load.run(requests, port: simulator.port)
                return simulator.process.processorTime - before
            }
            @Sendable func open() async throws -> Int {
                try #require(try await simulator.counters().root["connections_open"]?.int)
            }
            _ = try await time(Self.requestsBefore)
            let alone = try await time(Self.requests)

            try await onEpollLoop { loop in
                let crowd = try Crowd(loop, port: UInt16(simulator.port), authority: authority)
                defer { crowd.leave() }
                crowd.arrive()
                let beside = try await time(Self.requests)
                #expect(beside <= alone * Self.costMax, "\(beside) beside \(crowd), \(alone) alone")
                #expect(try await crowd.waits { $0.halfOpen.count == Crowd.halfOpenCount })
                // Those that wait in the kernel when the simulator takes no more were never connections of its own.
                #expect(try await crowd.waits { _ in try await open() <= Crowd.slowReaderCount }, "\(crowd)")
                #expect(try await crowd.waits { $0.floods.allSatisfy(\.isClosed) }, "\(crowd)")
                let mebibytes = simulator.process.peakResidentBytes >> 20
                #expect(mebibytes < Self.residentMebibytesMax)
            }
            // It lives, and serves as before.
            _ = try await time(Self.requestsBefore)
            let counters = try await simulator.counters().root
            #expect(counters["accepted"]?.int == 2 * (Self.requestsBefore + Self.requests))
            let sentAway = try #require(counters["connections_by_end"]?["sent_away"]?.int)
            #expect((Crowd.halfOpenCount / 2...Crowd.halfOpenCount).contains(sentAway), "\(sentAway)")
            try await simulator.process.terminate()
        }
    }
}

/// Thousands of connections that are not opened, and some that send floods or read nothing.
private final class Crowd: CustomStringConvertible {
    static let halfOpenCount = 10_000
    private static let arrivalsAtOnce = 50
    private static let floodsOfEachKind = 2
    static let slowReaderCount = 20

    private let loop: EpollLoop
    private let endpoint: Endpoint
    private let context: TLSContext
    private(set) var halfOpen: [BytePeer] = []
    private(set) var floods: [FramePeer] = []
    private var slowReaders: [FramePeer] = []

    init(_ loop: EpollLoop, port: UInt16, authority: String) throws {
        self.loop = loop
        endpoint = Endpoint(host: "127.0.0.1", port: port)
        context = try TLSContext(
            client: TLSClientConfiguration(trust: .pem(authority), applicationProtocols: ["h2"]))
    }

    var description: String {
        "\(halfOpen.count) half open (\(halfOpen.count(where: \.isClosed)) closed), \(floods.count) floods "
            + "(\(floods.count(where: \.isClosed)) closed), \(slowReaders.count) slow readers "
            + "(\(slowReaders.count(where: \.isClosed)) closed)"
    }

    func arrive() {
        for flood in Self.floods { for _ in 0..<Self.floodsOfEachKind { floods.append(connect(flood)) } }
        let requests = (0..<900).flatMap { HTTP2Frame.headers(UInt32($0 * 2 + 1), Self.get, endsStream: true).bytes }
        for _ in 0..<Self.slowReaderCount {
            let peer = connect(requests)
            peer.onEvent = { $0.pauseReading() }
            slowReaders.append(peer)
        }
        openSome()
    }

    /// Some say nothing, some begin with TLS's first bytes.
    private func openSome() {
        for _ in 0..<Self.arrivalsAtOnce {
            let peer = BytePeer(halfOpen.count.isMultiple(of: 2) ? [] : [22, 3, 1, 2, 0, 1])
            _ = loop.connect(to: endpoint, handler: peer)
            halfOpen.append(peer)
        }
        guard halfOpen.count < Self.halfOpenCount else { return }
        loop.schedule(after: .milliseconds(20)) { [weak self] in self?.openSome() }
    }

    private func connect(_ bytes: [UInt8]) -> FramePeer {
        let peer = FramePeer(
            FramePeer.Manners(
                greeting: HTTP2Frame.preface + HTTP2Frame.settings().bytes + bytes, acknowledgesSettings: true,
                keepsFrames: false))
        _ = TLSConnector(loop: loop, endpoint: endpoint, context: context).connect(peer)
        return peer
    }

    func waits(until condition: (Crowd) async throws -> Bool) async throws -> Bool {
        let deadline = loop.now.monotonic + .seconds(30)
        while try await !condition(self) {
            guard loop.now.monotonic < deadline else { return false }
            await loop.sleep(for: .milliseconds(100))
        }
        return true
    }

    func leave() {
        for peer in halfOpen { peer.transport?.reset() }
        for peer in floods + slowReaders { peer.reset() }
    }

    private static let get =
        HPACKWriter.indexed(2) + HPACKWriter.indexed(7) + HPACKWriter.indexed(4) + HPACKWriter.literal(nameOf: 1, "a")

    /// Requests that are reset at once, PING, header lists that are too large, CONTINUATION without end, rubbish.
    private static let floods: [[UInt8]] = [
        (0..<2000).flatMap { number in
            let stream = UInt32(number * 2 + 1)
            return HTTP2Frame.headers(stream, get).bytes + HTTP2Frame.resetStream(stream, code: 8).bytes
        },
        (0..<100_000).flatMap { HTTP2Frame.ping(UInt64($0)).bytes },
        (0..<1400).flatMap {
            HTTP2Frame.headers(
                UInt32($0 * 2 + 1), HPACKWriter.literal("a", String(repeating: "b", count: 16_000)), endsStream: true
            ).bytes
        },
        HTTP2Frame.headers(1, [], endsHeaders: false).bytes
            + (0..<1000).flatMap { _ in HTTP2Frame.continuation(1, []).bytes },
        [UInt8](repeating: 0xFF, count: 100_000),
    ]
}
