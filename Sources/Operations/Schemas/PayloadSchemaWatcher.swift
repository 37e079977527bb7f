import Delivery
import EventLoop
import Glibc
import Telemetry

/// Watches files with payload schemas on a thread of its own, because reading and compiling can block. It ends with the
/// process.
enum PayloadSchemaWatcher {
    /// A change is in force after two of these.
    static let checkIntervalSeconds: UInt32 = 1

    /// - Parameter onChange: called on the watcher's thread.
    /// - Throws: when the system gives no more threads.
    static func start(
        _ files: PayloadSchemaFiles, log: Log, metrics: MetricsRegistry,
        onChange: @escaping @Sendable (PayloadSchemaFiles) -> Void
    ) throws(TransportError) {
        guard !files.files.isEmpty else { return }
        let reloader = PayloadSchemaReloader(files, log: log, metrics: metrics)
        try DetachedThread.start {
            var reloader = reloader
            while true {
                sleep(checkIntervalSeconds)
                if reloader.check() { onChange(reloader.current) }
            }
        }
    }
}
