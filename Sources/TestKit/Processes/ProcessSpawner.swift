import EventLoop
import Glibc
import Telemetry
import Threads

/// The thread that starts all child processes.
///
/// The thread never exits: the kernel would send the parent-death signal to its children.
///
/// `@unchecked Sendable`: `state` protects mutable state.
final class ProcessSpawner: @unchecked Sendable {
    static let shared = ProcessSpawner()
    private let state = ConditionLock()
    private var waiting: [@Sendable () -> Void] = []

    private init() {
        // Writing to an exited child returns an error instead of a fatal signal.
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

    /// Runs `start` on the spawner's thread.
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
    /// Starts a thread, or ends the process: without the thread, a test would wait forever.
    static func require(_ body: @escaping @Sendable () -> Void) {
        do {
            try start(body)
        } catch {
            fatalError(error.message)
        }
    }
}
