import CLinux
import EventLoop
import Glibc
import Threads

/// A wait between two redraws of a terminal, or for a value. `q` or a signal ends the wait. The wait blocks
/// the thread.
final class RedrawPause {
    enum End: Error, Equatable {
        case quit
        case signal(Int32)
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    private let signalDescriptor: Int32
    private var keys: KeyInput?

    /// Blocks the signals, which then end a wait instead of the process. Call this initializer on the main thread.
    init() {
        SignalSource.block(Self.signals)
        var set = sigset_t()
        sigemptyset(&set)
        for signal in Self.signals { sigaddset(&set, signal) }
        signalDescriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC))
        keys = KeyInput()
    }

    func end() {
        keys?.end()
        keys = nil
        if signalDescriptor >= 0 { close(signalDescriptor) }
    }

    func wait(seconds: Int) throws(End) {
        try wait(until: ContinuousClock.now + .seconds(seconds))
    }

    /// Returns the value of `body`, which runs on a separate thread. The thread continues if `q` or a signal ends the
    /// wait. If no pipe or thread can be created, `body` runs on the calling thread.
    func value<Value: Sendable>(_ body: @escaping @Sendable () -> Value) throws(End) -> Value {
        var ends = [Int32](repeating: -1, count: 2)
        guard pipe(&ends) == 0 else { return body() }
        let (readEnd, writeEnd) = (ends[0], ends[1])
        defer { close(readEnd) }
        let box = ValueBox<Value>()
        do {
            try DetachedThread.start {
                box.value = body()
                close(writeEnd)
            }
        } catch {
            close(writeEnd)
            return body()
        }
        try wait(until: nil, orEndOf: readEnd)
        return box.value ?? body()
    }

    /// The result of a body that runs on its own thread.
    ///
    /// `@unchecked Sendable`: the value is written before the pipe is closed, and read after the end of the pipe.
    private final class ValueBox<Value: Sendable>: @unchecked Sendable {
        var value: Value?
    }

    private func wait(until deadline: ContinuousClock.Instant?, orEndOf descriptor: Int32 = -1) throws(End) {
        while true {
            var polled = [
                pollfd(fd: signalDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: keys == nil ? -1 : STDIN_FILENO, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            var left = Int32(-1)
            if let deadline {
                left = Int32(max(0, (deadline - ContinuousClock.now) / .milliseconds(1)).rounded(.up))
            }
            let count = poll(&polled, nfds_t(polled.count), left)
            if count == 0 { return }
            guard count > 0 else { continue }
            if polled[0].revents != 0 {
                var info = signalfd_siginfo()
                guard read(signalDescriptor, &info, MemoryLayout.size(ofValue: info)) > 0 else { continue }
                throw .signal(Int32(info.ssi_signo))
            }
            if polled[2].revents != 0 { return }
            switch keys?.read() {
            case .quit: throw .quit
            case .other: continue
            case nil, .ended:
                keys?.end()
                keys = nil
            }
        }
    }
}
