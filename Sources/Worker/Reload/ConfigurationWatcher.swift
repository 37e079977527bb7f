import CLinux
import Configuration
import Crypto
import Delivery
import EventLoop
import Telemetry
import Threads

/// A watcher that reloads a configuration on request, and the files that the configuration names after a change. The
/// watcher runs on a separate thread, because reading and compiling can block. The thread ends with the process.
///
/// `@unchecked Sendable`: the lock guards the state that the threads share.
final class ConfigurationWatcher: @unchecked Sendable {
    /// Interval between checks. A changed file is read once two consecutive checks see the same version.
    static let checkMilliseconds = 1000

    enum Change: Sendable {
        case version(PreparedVersion)
        /// Payload schemas of the newest version, which may not be in force yet.
        case payloadSchemas(PayloadSchemaFiles)
    }

    private let log: Log
    private let metrics: MetricsRegistry
    private let counters: ReloadCounters
    private var configuration: ConfigurationReloader
    private var payloadSchemas: PayloadSchemaReloader
    private let lock = ConditionLock()
    private var isRequested = false
    private var rejection: (rejected: ConfigurationVersion, inForce: ConfigurationVersion)?

    init(_ version: ConfigurationVersion, from path: String, log: Log, metrics: MetricsRegistry) {
        (self.log, self.metrics) = (log, metrics)
        counters = ReloadCounters(metrics, of: "configuration")
        configuration = ConfigurationReloader(version, from: path, log: log, counters)
        payloadSchemas = PayloadSchemaReloader(version.configuration.payloadSchemas, log: log, metrics: metrics)
    }

    /// Starts the watcher's thread.
    ///
    /// - Parameter changed: called on the watcher's thread.
    /// - Throws: if the system cannot create the thread.
    func start(_ changed: @escaping @Sendable (Change) -> Void) throws(ThreadError) {
        try DetachedThread.start { [self] in
            while true { if let change = next() { changed(change) } }
        }
    }

    /// Requests an immediate reload of all files. Any thread may call this function.
    func readAgain() {
        lock.withLock {
            isRequested = true
            lock.wakeAll()
        }
    }

    /// Reports that `version` was rejected. The watcher continues with the version in force, unless it has read a later
    /// version. Any thread may call this function.
    func rejected(_ version: ConfigurationVersion, inForce: ConfigurationVersion) {
        lock.withLock { rejection = (version, inForce) }
    }

    /// Waits for the next check or request, and returns the change, if any.
    func next() -> Change? {
        let (isRequested, rejection) = lock.withLock {
            _ = lock.wait(atMostMilliseconds: Self.checkMilliseconds) { self.isRequested }
            defer { (self.isRequested, self.rejection) = (false, nil) }
            return (self.isRequested, self.rejection)
        }
        // Do not discard a version that was read after the rejected version, because its rollout is still undecided.
        if let rejection, configuration.latest === rejection.rejected {
            configuration.fallBack(to: rejection.inForce)
            followPayloadSchemas(of: rejection.inForce)
        }
        let before = configuration.latest
        let version =
            isRequested ? configuration.readAgain() : configuration.check(payloadSchemas: payloadSchemas.current)
        if let version { return change(from: before, to: version) }
        return payloadSchemas.check() ? .payloadSchemas(payloadSchemas.current) : nil
    }

    private func change(from before: ConfigurationVersion, to version: ConfigurationVersion) -> Change? {
        do {
            let prepared = try PreparedVersion(version)
            followPayloadSchemas(of: version)
            return .version(prepared)
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
