import EventLoop
import Glibc
import Telemetry
import Threads

/// The thread that starts all child processes. It never ends, because the kernel takes its end for that of their parent.
///
/// `@unchecked Sendable`: what changes is behind `state`.
final class ProcessSpawner: @unchecked Sendable {
    static let shared = ProcessSpawner()
    private let state = ConditionLock()
    private var waiting: [@Sendable () -> Void] = []

    private init() {
        // Writing to a child that has gone is an error, not the end of this process.
        signal(SIGPIPE, SIG_IGN)
        DetachedThread.require { [self] in
            while true {
                let next = state.withLock {
                    state.wait { !waiting.isEmpty }
                    return waiting.removeFirst()
                }
                next()
            }
        }
    }

    /// Runs `start` on this thread.
    func run<Result: Sendable>(
        _ start: @escaping @Sendable () throws(ProcessError) -> Result
    ) async throws(ProcessError) -> Result {
        let started = await withUnsafeContinuation { continuation in
            state.withLock {
                waiting.append {
                    continuation.resume(returning: Swift.Result { () throws(ProcessError) in try start() })
                }
                state.wakeAll()
            }
        }
        return try started.get()
    }
}

extension DetachedThread {
    /// Starts a thread or ends the process: without it a test would wait for ever.
    static func require(_ body: @escaping @Sendable () -> Void) {
        do {
            try start(body)
        } catch {
            fatalError(error.message)
        }
    }
}
