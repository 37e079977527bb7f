import CLinux
import EventLoop
import Glibc

/// The time between two drawings on a terminal, which `q` or a signal ends. Blocks the thread.
final class RedrawPause {
    enum End: Equatable {
        case timePassed
        case quit
        case signal(Int32)
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    private let signalDescriptor: Int32
    private var keys: KeyInput?

    /// From here on signals end a wait, not the process. To be called on the main thread.
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

    func wait(seconds: Int) -> End {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            var polled = [
                pollfd(fd: signalDescriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: keys == nil ? -1 : STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            ]
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            guard left > 0 else { return .timePassed }
            let count = poll(&polled, nfds_t(polled.count), Int32(left.rounded(.up)))
            if count == 0 { return .timePassed }
            guard count > 0 else { continue }
            if polled[0].revents != 0 {
                var info = signalfd_siginfo()
                guard read(signalDescriptor, &info, MemoryLayout.size(ofValue: info)) > 0 else { continue }
                return .signal(Int32(info.ssi_signo))
            }
            switch keys?.read() {
            case .quit: return .quit
            case .other: continue
            case nil, .ended:
                keys?.end()
                keys = nil
            }
        }
    }
}
