import AMQP
import EventLoop
import TestKit

/// A relay with Martlet's AMQP client that does the work of `baseline-relay`.
///
/// The relay consumes messages, publishes a result for each message, and acknowledges a message when its result is
/// confirmed. Like a lane, the relay has one connection to consume and one connection to publish.
actor RelayClient {
    /// The name of the hidden command that `amqp` starts.
    static let name = "relay-client"
    /// The time limit for the queue to apply the last acknowledgments.
    private static let settleSecondsMax = 10
    private static let resultBeforeID = Array(#"{"id":""#.utf8)
    private static let resultAfterID = Array(
        #"""
        ","status":200,"reason":"","topic":"com.example.MyApp","device_token":\#
        "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0","at":1763683200}
        """#.utf8)

    private nonisolated let loop: EpollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let consumer: Consumer
    private let publisher: Publisher
    private let messages: Int
    private var done = 0
    private var began: MonotonicTime?
    private var failure: ProcessError?
    private var idleTasks: [UnsafeContinuation<IncomingMessage?, Never>] = []
    private var whenDone: UnsafeContinuation<Void, Never>?

    static func command(_ messages: Int, _ options: EndToEndOptions, _ port: UInt16) throws -> [String] {
        [
            try Products.executable("martlet-bench"), RelayClient.name, "--port", "\(port)", "--messages",
            "\(messages)", WorkSetting.inFlight.flag, "\(options.inFlight)",
        ]
    }

    /// Relays `options.messages` messages, and returns the line of output.
    static func run(_ options: EndToEndOptions, port: UInt16) async throws -> String {
        try await onEpollLoop { loop in try await RelayClient(loop, options, port).run() }
    }

    /// Creates a relay. The caller must run on the loop.
    private init(_ loop: EpollLoop, _ options: EndToEndOptions, _ port: UInt16) {
        self.loop = loop
        messages = options.messages
        let connectors = [ByteConnector(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: port))]
        let connection = ConnectionConfiguration(credentials: AMQPCredentials(user: "guest", password: "guest"))
        consumer = Consumer(
            loop: loop, connectors: connectors, connection: connection,
            configuration: ConsumerConfiguration(queue: WorkerFixture.requests, prefetch: options.inFlight))
        publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
    }

    private func run() async throws -> String {
        publisher.start()
        consumer.start(TestConsumerHandler { self.handle($0) })
        await withUnsafeContinuation { whenDone = $0 }
        let seconds = (began?.duration(to: loop.now.monotonic) ?? .zero) / .seconds(1)
        while let idle = idleTasks.popLast() { idle.resume(returning: nil) }
        let isSettled = await consumer.waitUntilSettled(by: loop.now.monotonic + .seconds(Self.settleSecondsMax))
        await consumer.close()
        await publisher.close()
        if let failure { throw failure }
        guard isSettled else {
            throw ProcessError("cannot verify the acknowledgments: the queue may not have applied them")
        }
        return "martlet: \(messages) messages \(Int(Double(messages) / seconds)) /s"
    }

    private func handle(_ message: IncomingMessage) {
        began = began ?? loop.now.monotonic
        if let idle = idleTasks.popLast() { return idle.resume(returning: message) }
        Task { await relayOneByOne(message) }
    }

    private func relayOneByOne(_ first: IncomingMessage) async {
        var next: IncomingMessage? = first
        while let message = next {
            await relay(message)
            next = await withUnsafeContinuation { idleTasks.append($0) }
        }
    }

    private static func result(_ id: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(resultBeforeID.count + id.utf8.count + resultAfterID.count)
        body += resultBeforeID
        body += id.utf8
        body += resultAfterID
        return body
    }

    private func relay(_ message: IncomingMessage) async {
        let id = message.properties.messageID ?? ""
        let outcome = await publisher.publish(
            OutgoingMessage(
                exchange: "", routingKey: WorkerFixture.results, body: Self.result(id), messageID: id))
        if outcome == .confirmed {
            consumer.acknowledge(message.tag)
        } else {
            failure = ProcessError("cannot publish a result: \(outcome)")
        }
        done += 1
        guard done == messages || failure != nil else { return }
        whenDone?.resume()
        whenDone = nil
    }
}
