import CLinux
import Glibc

/// A source that delivers signals as events of a loop, through a signalfd.
public final class SignalSource {
    private let loop: EpollLoop
    private let descriptor: Int32
    private var watch: DescriptorRegistration?

    /// Blocks `signals` in the calling thread, and in threads that this thread starts later, which inherit the mask.
    /// Call this function before other threads start.
    public static func block(_ signals: [Int32]) {
        var set = mask(of: signals)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `action` on the loop with the number of each arriving signal of `signals`, which must be blocked.
    public init(loop: EpollLoop, signals: [Int32], _ action: @escaping (Int32) -> Void) throws(TransportError) {
        self.loop = loop
        var set = Self.mask(of: signals)
        descriptor = signalfd(-1, &set, Int32(SFD_NONBLOCK | SFD_CLOEXEC))
        guard descriptor >= 0 else { throw TransportError(errno: errno, "cannot receive signals") }
        let descriptor = descriptor
        watch = loop.watch(
            descriptor, for: EPOLLIN, action: { _ in Self.read(descriptor, action) },
            abandoned: { [weak self] in self?.close() })
        guard watch != nil else {
            let error = TransportError(errno: errno, "cannot receive signals")
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        precondition(watch == nil, "a signal source was dropped without close()")
    }

    /// Stops receiving the signals, which stay blocked. The end of the loop does the same.
    public func close() {
        guard let watch else { return }
        loop.end(watch)
        self.watch = nil
        Glibc.close(descriptor)
    }

    private static func read(_ descriptor: Int32, _ action: (Int32) -> Void) {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        while Glibc.read(descriptor, &info, size) == size { action(Int32(bitPattern: info.ssi_signo)) }
    }

    private static func mask(of signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
