package import EventLoop
import Glibc

/// SIGINT, SIGTERM and the end of the terminal as a wish to end in order: what was begun is finished. The second one ends
/// the process at once, and so does the first while a command only waits for its broker.
public final class Interruption {
    package static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// The kind of a signal. The raw value is the exit status of a process that it ends.
    public enum Signal: Int32 {
        case interrupt = 130
        case terminate = 143
    }

    /// The first signal; nil before.
    package private(set) var signal: Signal?
    /// Whether something has begun that is to be finished. Before, the first signal ends the process at once.
    package var hasBegun = false
    /// What has begun, outermost first.
    private var handlers: [InterruptionHandler] = []
    /// What is done even when the process ends at once.
    package var atOnce: () -> Void = {}
    /// While an editor has the terminal, Ctrl-C is a key of the editor's.
    package var leavesControlC = false
    private var source: SignalSource?

    /// To be called before other threads are started.
    package static func block() { SignalSource.block(heeded) }

    package init(on loop: EpollLoop) {
        // Without a source the signals stay blocked, and the work ends by itself.
        source = try? SignalSource(loop: loop, signals: Self.heeded) { [weak self] in self?.received($0) }
    }

    package func end() {
        source?.close()
        source = nil
        handlers = []
    }

    /// Reports the first signal to this handler too, until `remove`.
    package func add(_ handler: InterruptionHandler) { handlers.append(handler) }

    package func remove(_ handler: InterruptionHandler) { handlers.removeAll { $0 === handler } }

    /// Without the end of the terminal where that was to be outlived (`nohup`): blocked, it would be seen all the same.
    private static var heeded: [Int32] {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1 ? [SIGINT, SIGTERM] : signals
    }

    private func received(_ number: Int32) {
        if number == SIGINT, leavesControlC { return }
        let kind = number == SIGINT ? Signal.interrupt : .terminate
        guard signal == nil, hasBegun else {
            atOnce()
            _exit(kind.rawValue)
        }
        signal = kind
        for handler in handlers { handler.interrupted(kind) }
    }
}
