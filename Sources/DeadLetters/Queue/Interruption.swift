package import EventLoop
import Glibc

/// The handling of SIGINT, SIGTERM and SIGHUP as requests for an orderly stop. The command completes work that has
/// started. A second signal terminates the process immediately. If no work has started, the first signal also
/// terminates the process.
public final class Interruption {
    package static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// The kind of a signal. SIGHUP counts as `terminate`. The raw value is the exit status of the process.
    public enum Signal: Int32 {
        case interrupt = 130
        case terminate = 143
    }

    /// The first signal; nil without one.
    package private(set) var signal: Signal?
    /// Whether work that must be completed has started. If not, the first signal terminates the process.
    package var hasBegun = false
    /// Handlers of started work, outermost first.
    private var handlers: [InterruptionHandler] = []
    /// The action before an immediate termination.
    package var atOnce: () -> Void = {}
    /// Whether to ignore SIGINT, because an editor in the terminal handles Ctrl-C as a key.
    package var leavesControlC = false
    private var source: SignalSource?

    /// Blocks the signals. Call this function before other threads start.
    package static func block() { SignalSource.block(handledSignals) }

    package init(on loop: EpollLoop) {
        // Without a source, the signals stay blocked and the work completes.
        source = try? SignalSource(loop: loop, signals: Self.handledSignals) { [weak self] in self?.received($0) }
    }

    package func end() {
        source?.close()
        source = nil
        handlers = []
    }

    /// Adds a handler of the first signal.
    package func add(_ handler: InterruptionHandler) { handlers.append(handler) }

    package func remove(_ handler: InterruptionHandler) { handlers.removeAll { $0 === handler } }

    /// The handled signals. SIGHUP is excluded if the process ignores it (`nohup`), because a signalfd would receive
    /// the blocked signal.
    private static var handledSignals: [Int32] {
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
