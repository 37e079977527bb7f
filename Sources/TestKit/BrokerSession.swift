public import AMQP
import EventLoop
import Telemetry

/// Clients of a broker on a loop of their own: what a test or the benchmark itself publishes, counts and takes away.
public final class BrokerSession: Sendable {
    /// Messages that `publish` has under way at once.
    private static let unconfirmedMax = 2000

    private let loop: EpollLoop
    private let clients: Clients

    /// - Parameter url: `amqp://…`, as `PrivateBroker` has it.
    /// - Throws: `AMQPError` for what is no URL, `TransportError` when the system has no more descriptors.
    public init(_ url: String) async throws {
        let url = try AMQPURL(url)
        let loop = try EpollLoop()
        self.loop = loop
        try DetachedThread.start { loop.run() }
        clients = await Task(executorPreference: loop) { Clients(of: url, on: loop) }.value
    }

    /// `@unchecked Sendable`: made on their loop, and used on it only.
    private final class Clients: @unchecked Sendable {
        let admin: BrokerAdmin
        let publisher: Publisher

        init(of url: AMQPURL, on loop: EventLoop) {
            let connectors = url.endpoints.map { ByteConnector(loop: loop, endpoint: $0) }
            let connection = ConnectionConfiguration(credentials: url.credentials)
            admin = BrokerAdmin(loop: loop, connectors: connectors, connection: connection)
            publisher = Publisher(loop: loop, connectors: connectors, connection: connection)
            admin.start()
            publisher.start()
        }
    }

    /// Does something with the administration client, on its loop.
    public func administer<Result: Sendable>(
        _ body: @escaping @Sendable (BrokerAdmin) async throws -> Result
    ) async throws -> Result {
        try await Task(executorPreference: loop) { [self] in try await body(clients.admin) }.value
    }

    /// How many messages wait in a queue.
    public func count(in queue: String) async throws -> Int {
        try await administer { try await $0.status(ofQueue: queue).messages }
    }

    /// Publishes `count` messages, each confirmed.
    ///
    /// - Throws: `ProcessError` when one is not.
    public func publish(_ count: Int, _ message: @escaping @Sendable (Int) -> OutgoingMessage) async throws {
        let failed = await Task(executorPreference: loop) { [self] in
            await withTaskGroup(of: String?.self) { group in
                let width = Self.unconfirmedMax
                for first in 0..<min(width, count) {
                    group.addTask { [self] in
                        for number in stride(from: first, to: count, by: width) {
                            let outcome = await clients.publisher.publish(message(number))
                            guard case .confirmed = outcome else { return "message \(number): \(outcome)" }
                        }
                        return nil
                    }
                }
                return await group.reduce(nil) { $0 ?? $1 }
            }
        }.value
        if let failed { throw ProcessError("not published: \(failed)") }
    }

    /// Closes the connections and ends the loop.
    public func close() async {
        await Task(executorPreference: loop) { [self] in
            await clients.publisher.close()
            await clients.admin.close()
        }.value
        loop.stop()
    }
}
