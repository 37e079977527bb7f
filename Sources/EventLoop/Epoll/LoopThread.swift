import CLinux

/// Operating-system threads of our own, apart from Swift's pool.
public enum LoopThread {
    /// The stack of a lane: librabbitmq decodes nested tables by recursion, and 512 KiB overflow at 30 KB of them.
    public static let stackBytes = 8 * 1024 * 1024

    /// Starts a thread that runs `body` and ends; nobody waits for it.
    ///
    /// - Returns: false when the system gives no more threads; `body` is not run then.
    @discardableResult
    public static func detach(_ body: @escaping @Sendable () -> Void) -> Bool {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        let box = Unmanaged.passRetained(ThreadBody(body))
        var thread = pthread_t()
        let status = pthread_create(&thread, &attributes, runThreadBody, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }

    /// Runs `body` on a thread of its own and returns its result; for what can block, off the data path.
    public static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withUnsafeContinuation { continuation in
            // Without a thread of its own it runs here, late but not lost.
            if !detach({ continuation.resume(returning: body()) }) { continuation.resume(returning: body()) }
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
