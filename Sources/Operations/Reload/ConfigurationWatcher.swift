import CLinux
import Crypto
import Delivery
import EventLoop
import Telemetry
import Threads

/// Follows the files of a worker's configuration on a thread of its own, because reading and compiling can block. It ends
/// with the process.
///
/// `@unchecked Sendable`: the lock guards what the threads share.
final class ConfigurationWatcher: @unchecked Sendable {
    /// A change of a file is in force after two of these.
    static let checkMilliseconds = 1000

    enum Change: Sendable {
        /// Ready to be put in force.
        case configuration(ConfigurationVersion, WorkerComponents)
        /// Those that the newest configuration names, which may be yet to be put in force.
        case payloadSchemas(PayloadSchemaFiles)
    }

    private let log: Log
    private let metrics: MetricsRegistry
    private let counters: ReloadCounters
    private var configuration: ConfigurationReloader
    private var payloadSchemas: PayloadSchemaReloader
    private let lock = ConditionLock()
    private var isAsked = false
    private var refusal: (refused: ConfigurationVersion, inForce: ConfigurationVersion)?

    init(_ version: ConfigurationVersion, from path: String, log: Log, metrics: MetricsRegistry) {
        (self.log, self.metrics) = (log, metrics)
        counters = ReloadCounters(metrics, of: "configuration")
        configuration = ConfigurationReloader(version, from: path, log: log, counters)
        payloadSchemas = PayloadSchemaReloader(version.configuration.payloadSchemas, log: log, metrics: metrics)
    }

    /// - Parameter onChange: called on the watcher's thread.
    /// - Throws: when the system gives no more threads.
    func start(onChange: @escaping @Sendable (Change) -> Void) throws(ThreadError) {
        try DetachedThread.start { [self] in
            while true { if let change = next() { onChange(change) } }
        }
    }

    /// Has all of it be read again now. From any thread.
    func readAgain() {
        lock.withLock {
            isAsked = true
            lock.wakeAll()
        }
    }

    /// A change was put in force.
    func took() { counters.taken.add() }

    /// A change could not be put in force yet, and is tried on.
    func delayed() { counters.refused.add() }

    /// A change was refused. From any thread.
    func refused(_ version: ConfigurationVersion, inForce: ConfigurationVersion) {
        counters.refused.add()
        lock.withLock { refusal = (version, inForce) }
    }

    /// Waits until it is time to look, and looks; what has changed.
    func next() -> Change? {
        let (isAsked, refusal) = lock.withLock {
            _ = lock.wait(atMostMilliseconds: Self.checkMilliseconds) { self.isAsked }
            defer { (self.isAsked, self.refusal) = (false, nil) }
            return (self.isAsked, self.refusal)
        }
        // What was read after the refused one is on its way, and has what was in force behind it.
        if let refusal, configuration.latest === refusal.refused {
            configuration.fallBack(to: refusal.inForce)
            followPayloadSchemas(of: refusal.inForce)
        }
        let before = configuration.latest
        let version =
            isAsked ? configuration.readAgain() : configuration.check(payloadSchemas: payloadSchemas.current)
        if let version { return change(from: before, to: version) }
        return payloadSchemas.check() ? .payloadSchemas(payloadSchemas.current) : nil
    }

    private func change(from before: ConfigurationVersion, to version: ConfigurationVersion) -> Change? {
        do {
            let components = try WorkerComponents(version.configuration)
            followPayloadSchemas(of: version)
            return .configuration(version, components)
        } catch {
            log.error(.configurationRefused, [.error: .string(error.message)])
            counters.refused.add()
            configuration.fallBack(to: before)
            return nil
        }
    }

    private func followPayloadSchemas(of version: ConfigurationVersion) {
        payloadSchemas = PayloadSchemaReloader(version.configuration.payloadSchemas, log: log, metrics: metrics)
    }
}
