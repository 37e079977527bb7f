package import AMQP
import BrokerTopology
package import Configuration
package import DeadLetters
package import EventLoop

/// A lock at the broker that excludes other commands and consoles from the messages of a source: another redrive, drop
/// or edit would hide messages from this one.
///
/// The lock has its own connection, whose end frees the lock. Loop-bound. `@unchecked Sendable`: only the loop uses the
/// object.
package final class QueueLock: @unchecked Sendable {
    /// The broker frees the lock of a vanished holder after two to three heartbeat intervals.
    private static let heartbeatSeconds = 5
    private static let retryMilliseconds: Int64 = 100

    private enum State {
        /// Next: `held` or `released`.
        case idle
        /// Next: `lost` or `released`.
        case held
        /// The connection was lost, and another program may hold the lock. Next: `released`.
        case lost
        case released
    }

    /// The sentence for a lock that another program holds.
    package static func busy(_ source: MessageSource) -> String {
        switch source {
        case .deadLetters: "another redrive, drop or edit is running"
        case .unrouted: "another replay is running"
        case .waits: "another bring-back is running"
        }
    }

    /// The sentence for a lost lock.
    package static let lossSentence = "the broker connection was lost, and with it the lock of the queue"

    private let connection: BrokerConnection
    private let admin: BrokerAdmin
    private let name: String
    private let handler: SessionHandler
    private let lost: () -> Void
    private var state = State.idle

    package var isLost: Bool { if case .lost = state { true } else { false } }

    /// - Parameters:
    ///   - handler: receives the status of the connection.
    ///   - lost: called if the connection of a held lock is lost.
    package init(
        of source: MessageSource, _ connector: BrokerConnector, on loop: EventLoop, command: String,
        _ handler: SessionHandler = SessionHandler(), lost: @escaping () -> Void = {}
    ) {
        (self.handler, self.lost) = (handler, lost)
        name = connector.names.lockPrefix + source.lockWord
        var settings = connector.connection(named: command)
        settings.heartbeatSeconds = Self.heartbeatSeconds
        connection = BrokerConnection(loop: loop, connectors: connector.connectors(on: loop), configuration: settings)
        admin = BrokerAdmin(on: connection)
    }

    /// Acquires the lock. Returns false if another program holds it for the whole time.
    package func acquire(milliseconds: Int64 = 0) async throws(AMQPError) -> Bool {
        connection.start(Events(self))
        admin.start()
        let end = connection.loop.now.monotonic + .milliseconds(milliseconds)
        while true {
            if try await admin.acquireLock(name) {
                // The connection may have been lost since the broker's reply, and the lock with it.
                if isConnected {
                    state = .held
                    return true
                }
            }
            guard connection.loop.now.monotonic < end else { return false }
            await connection.loop.sleep(for: .milliseconds(Self.retryMilliseconds))
        }
    }

    /// Frees the lock, and closes the connection.
    package func release() async {
        let isHeld = if case .held = state { true } else { false }
        state = .released
        // If the deletion fails, the broker frees the lock with the connection.
        if isHeld { _ = try? await admin.deleteQueue(name) }
        await connection.close()
    }

    private var isConnected: Bool {
        switch connection.status {
        case .idle, .ready, .blocked: true
        case .connecting, .waiting, .disconnected, .closed: false
        }
    }

    private func changed(_ status: BrokerStatus) {
        handler.statusChanged(status)
        guard case .held = state, !isConnected else { return }
        state = .lost
        lost()
    }

    private final class Events: SessionHandler {
        private unowned let lock: QueueLock

        init(_ lock: QueueLock) { self.lock = lock }

        override func statusChanged(_ status: BrokerStatus) { lock.changed(status) }
    }
}

extension MessageSource {
    /// The end of the lock's name.
    fileprivate var lockWord: String {
        switch self {
        case .deadLetters: "dead"
        case .unrouted: "unrouted"
        case .waits: "waits"
        }
    }
}
