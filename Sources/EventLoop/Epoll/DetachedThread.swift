import CLinux

/// Operating-system threads of our own, apart from Swift's pool: for loops, and for what can block.
public enum DetachedThread {
    /// Starts a thread that runs `body` and ends; nobody waits for it.
    ///
    /// - Throws: `resources` when the system gives no more threads; `body` is not run then.
    public static func start(_ body: @escaping @Sendable () -> Void) throws(TransportError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let box = Unmanaged.passRetained(ThreadBody(body))
        var thread = pthread_t()
        let status = pthread_create(&thread, &attributes, runThreadBody, box.toOpaque())
        guard status == 0 else {
            box.release()
            throw TransportError(.resources, "no thread can be started: \(errorText(status))", underlying: status)
        }
    }

    /// Runs `body` on a thread of its own and returns its result; for what can block, off the data path.
    public static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withUnsafeContinuation { continuation in
            do {
                try start { continuation.resume(returning: body()) }
            } catch {
                // Here, late but not lost.
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
