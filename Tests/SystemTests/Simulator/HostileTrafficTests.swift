import EventLoop
import JSON
import TLS
import TestKit
import Testing

extension ToolTests {
    /// Hostile clients, together with a well-behaved client.
    @Suite struct HostileTraffic {
        private static let requestsBefore = 5000
        private static let requests = LongForm.pick(60_000, short: 20_000)
        /// The maximum CPU time per push with hostile clients, relative to the time without them.
        ///
        /// Measurements found 1.2 to 1.7 times the CPU time, and 0.58 to 0.87 of the throughput. Other work on the same
        /// processors affects both figures.
        private static let costMax = 3
        /// The maximum memory of the simulator.
        ///
        /// 2,000 connections in the handshake use 150 KB each for the state of TLS and HTTP/2.
        private static let residentMebibytesMax = 400

        /// Compares the simulator's CPU time instead of the throughput. The hostile clients and the load generator
        /// share the processors with the simulator.
        @Test func aGoodClientIsServedAtLimitedCost() async throws {
            let directory = try TemporaryDirectory("hostile")
            let simulator = try await SimulatorProcess(in: directory, options: ["--gate", "off"])
            let load = try LoadGenerator(
                connections: 4, streams: 100, devices: 1000, authorization: try simulator.authorization(),
                in: directory)
            let authority = try directory.read("ca.pem")
            // Returns the CPU time that the simulator uses for the pushes. Throws unless each push is answered with
            // 200.
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
                defer { crowd.disconnect() }
                crowd.connectAll()
                let beside = try await time(Self.requests)
                #expect(beside <= alone * Self.costMax, "\(beside) beside \(crowd), \(alone) alone")
                #expect(try await crowd.waits { $0.halfOpen.count == Crowd.halfOpenCount })
                // Connections that wait in the kernel's accept queue are not counted.
                #expect(try await crowd.waits { _ in try await open() <= Crowd.slowReaderCount }, "\(crowd)")
                #expect(try await crowd.waits { $0.floods.allSatisfy(\.isClosed) }, "\(crowd)")
                let mebibytes = simulator.process.peakResidentBytes >> 20
                #expect(mebibytes < Self.residentMebibytesMax)
            }
            // The simulator still serves requests.
            _ = try await time(Self.requestsBefore)
            let counters = try await simulator.counters().root
            #expect(counters["accepted"]?.int == 2 * (Self.requestsBefore + Self.requests))
            let sentAway = try #require(counters["connections_by_end"]?["sent_away"]?.int)
            #expect((Crowd.halfOpenCount / 2...Crowd.halfOpenCount).contains(sentAway), "\(sentAway)")
            try await simulator.process.terminate()
        }
    }
}

/// Thousands of half-open connections, and some clients that flood the server or never read.
private final class Crowd: CustomStringConvertible {
    static let halfOpenCount = 10_000
    private static let connectsPerStep = 50
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

    /// Connects the flooding and the slow clients, and starts to open the half-open connections.
    func connectAll() {
        for flood in Self.floods { for _ in 0..<Self.floodsOfEachKind { floods.append(connect(flood)) } }
        let requests = (0..<900).flatMap { HTTP2Frame.headers(UInt32($0 * 2 + 1), Self.get, endsStream: true).bytes }
        for _ in 0..<Self.slowReaderCount {
            let peer = connect(requests)
            peer.onEvent = { $0.pauseReading() }
            slowReaders.append(peer)
        }
        openSome()
    }

    /// Opens some connections, and schedules itself until `halfOpenCount` connections exist. Half of the connections
    /// send nothing, and the others send only the first bytes of a TLS handshake.
    private func openSome() {
        for _ in 0..<Self.connectsPerStep {
            let peer = BytePeer(halfOpen.count.isMultiple(of: 2) ? [] : [22, 3, 1, 2, 0, 1])
            _ = loop.connect(to: endpoint, handler: peer)
            halfOpen.append(peer)
        }
        guard halfOpen.count < Self.halfOpenCount else { return }
        loop.schedule(after: .milliseconds(20)) { [weak self] in self?.openSome() }
    }

    private func connect(_ bytes: [UInt8]) -> FramePeer {
        let peer = FramePeer(
            FramePeer.Behavior(
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

    func disconnect() {
        for peer in halfOpen { peer.transport?.reset() }
        for peer in floods + slowReaders { peer.reset() }
    }

    private static let get =
        HPACKWriter.indexed(2) + HPACKWriter.indexed(7) + HPACKWriter.indexed(4) + HPACKWriter.literal(nameOf: 1, "a")

    /// The input of the flooding clients: requests that are reset immediately, PING frames, large header lists, many
    /// CONTINUATION frames, and garbage.
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
