import APNS
import APNSProtocol
import Crypto
import EventLoop
import TLS
import TestKit

/// A client with Martlet's APNs pool on one loop, with provider token, HTTP/2 and TLS.
///
/// The client sends the same pushes as h2load (`LoadGenerator`).
actor PushClient {
    struct Place {
        let port: UInt16
        /// The folder with the files of the simulator's demonstration.
        let directory: String
    }

    /// The name of the hidden command that `apns` starts.
    static let name = "push-client"
    /// The sampling interval. One of this many requests is timed, which limits the cost of the clock and of sorting.
    private static let timedOneOf = 16
    /// The maximum length of the warm-up, as a multiple of the pushes that can be in flight.
    private static let roundsToWarmUp = 4

    private nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let pool: APNSPool
    private let requests: Int
    private let connections: Int
    private let width: Int
    /// The number of initial requests that are not measured, because connections are still opening.
    private let warmUp: Int
    private var began: ContinuousClock.Instant?
    private let tokens = (0..<RequestOptions.devices).map { Array(BenchMessage.digits($0, count: 64).utf8) }
    private let topic = Array("com.example.app".utf8)
    private let payload: [UInt8]
    private let id = UUIDValue(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0001)
    private var next = 0
    private var latencies: [Duration] = []
    private var failure: ProcessError?

    static func command(
        _ requests: Int, _ options: RequestOptions, port: Int, directory: String
    ) throws -> [String] {
        [
            try Products.executable("martlet-bench"), PushClient.name, "--port", "\(port)", "--folder", directory,
            "--requests", "\(requests)", "--connections", "\(options.connections)", "--streams", "\(options.streams)",
            "--payload-bytes", "\(options.payloadBytes)",
        ]
    }

    /// Sends all pushes, and returns the line of output.
    static func run(_ options: RequestOptions, at place: Place) async throws -> String {
        try await onEpollLoop { loop in try await PushClient(loop, options, place).run() }
    }

    /// Creates a client. The caller must run on the loop.
    private init(_ loop: EpollLoop, _ options: RequestOptions, _ place: Place) throws {
        self.loop = loop
        requests = options.requests
        connections = options.connections
        width = min(options.connections * options.streams, options.requests)
        warmUp = min(Self.roundsToWarmUp * width, options.requests / 2)
        payload = Array(BenchMessage.payload(bytes: options.payloadBytes).utf8)
        latencies.reserveCapacity(options.requests / Self.timedOneOf + 1)
        let endpoint = Endpoint(host: "127.0.0.1", port: place.port)
        func read(_ name: String) throws -> String {
            try Files.lines(of: "\(place.directory)/\(name)").joined(separator: "\n")
        }
        var configuration = PoolConfiguration(
            environment: .production,
            key: try ProviderKey(
                privateKey: ES256PrivateKey(pem: read("AuthKey_DEMOKEY001.p8")), keyID: "DEMOKEY001",
                teamID: "DEMOTEAM01"),
            authority: endpoint.description)
        configuration.connectionsMax = options.connections
        configuration.streamsMax = options.streams
        configuration.waitingMax = width
        // The pool may open all connections without a delay.
        configuration.reconnect.connectsPerMinuteMax = 2 * options.connections
        let context = try TLSContext(
            client: TLSClientConfiguration(
                trust: .pem(read("ca.pem")), applicationProtocols: ["h2"], requiresApplicationProtocol: true))
        pool = APNSPool(
            loop: loop, connector: TLSConnector(over: ByteConnector(loop: loop, endpoint: endpoint), context: context),
            configuration: configuration)
    }

    private func run() async throws -> String {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<width { group.addTask { await self.pushOneByOne() } }
        }
        let isWhole = pool.connectionCount == connections
        pool.close()
        if let failure { throw failure }
        guard let began, isWhole, !latencies.isEmpty else {
            throw ProcessError(
                "cannot measure \(requests) requests: too few for \(width) in flight on \(connections) connections; "
                    + "increase --requests and --warm-up")
        }
        let rate = Int(Double(requests - warmUp) / ((ContinuousClock.now - began) / .seconds(1)))
        return "martlet: \(requests) requests \(rate) /s \(Percentiles(of: latencies.sorted()).words)"
    }

    private func pushOneByOne() async {
        while next < requests, failure == nil {
            let number = next
            next += 1
            if number == warmUp { began = .now }
            let sentAt = number >= warmUp && number.isMultiple(of: Self.timedOneOf) ? ContinuousClock.now : nil
            let outcome = await pool.send(
                .device(
                    token: tokens[number % tokens.count][...], topic: topic, pushType: .alert, priority: .immediate,
                    expiration: 1_900_000_000, id: id, payload: payload))
            guard case .answered(let answer) = outcome, answer.status == 200 else {
                failure = ProcessError("cannot push request \(number): \(outcome)")
                return
            }
            if let sentAt { latencies.append(ContinuousClock.now - sentAt) }
        }
    }
}
