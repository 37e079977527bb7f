import EventLoop
import Glibc
import Telemetry
import Threads

/// The thread that starts all child processes.
///
/// The thread never exits, because the kernel sends the parent-death signal when the thread that started a child exits.
///
/// `@unchecked Sendable`: the lock `state` protects the mutable properties.
final class ProcessSpawner: @unchecked Sendable {
    static let shared = ProcessSpawner()
    private let state = ConditionLock()
    private var waiting: [@Sendable () -> Void] = []

    private init() {
        // Without SIGPIPE, writing to the pipe of an exited child returns an error and does not end this process.
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
    /// Starts a thread, or ends the process. Without the thread, a test would wait forever.
    static func require(_ body: @escaping @Sendable () -> Void) {
        do {
            try start(body)
        } catch {
            fatalError(error.message)
        }
    }
}
