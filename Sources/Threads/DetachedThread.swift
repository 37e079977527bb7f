import CLinux

/// Operating-system threads outside Swift's pool, for event loops and for calls that can block.
public enum DetachedThread {
    /// The signals that a new thread can receive.
    public enum Signals {
        /// The signals that the starting thread can receive.
        case inherited
        /// No signals. A write to a closed pipe fails, but SIGPIPE does not end the process.
        case blocked
    }

    /// Starts a detached thread that runs `body`.
    ///
    /// - Throws: if the system cannot start another thread. `body` does not run then.
    public static func start(
        signals: Signals = .inherited, _ body: @escaping @Sendable () -> Void
    ) throws(ThreadError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        if signals == .blocked {
            // The new thread inherits the mask of this thread.
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, nil)
        }
        defer { pthread_sigmask(SIG_SETMASK, &mask, nil) }
        let box = Unmanaged.passRetained(ThreadBody(body))
        var thread = pthread_t()
        let status = pthread_create(&thread, &attributes, runThreadBody, box.toOpaque())
        guard status == 0 else {
            box.release()
            throw ThreadError(code: status)
        }
    }

    /// Runs `body` on a new thread and returns the result of `body`. If no thread can be started, runs `body` on the
    /// caller's thread. Use this function for blocking calls outside the data path.
    public static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withUnsafeContinuation { continuation in
            do {
                try start { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: body())
            }
        }
    }
}

private final class ThreadBody {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}
