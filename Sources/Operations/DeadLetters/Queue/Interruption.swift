import CommandKit
import EventLoop
import Glibc

/// SIGINT, SIGTERM and the end of the terminal as a wish to end in order: what was begun is finished. The second one ends
/// the process at once, and so does the first while a command only waits for its broker.
final class Interruption {
    static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// How the process ends because of it; nil before.
    private(set) var code: ExitCode?
    /// Whether something has begun that is to be finished. Before, the first signal ends the process at once.
    var hasBegun = false
    /// What has begun, outermost first.
    private var handlers: [InterruptionHandler] = []
    /// What is done even when the process ends at once.
    var atOnce: () -> Void = {}
    /// While an editor has the terminal, Ctrl-C is a key of the editor's.
    var leavesControlC = false
    private var source: SignalSource?

    /// To be called before other threads are started.
    static func block() { SignalSource.block(heeded) }

    init(on loop: EpollLoop) {
        // Without a source the signals stay blocked, and the work ends by itself.
        source = try? SignalSource(loop: loop, signals: Self.heeded) { [weak self] in self?.received($0) }
    }

    func end() {
        source?.close()
        source = nil
        handlers = []
    }

    /// Reports the first signal to this handler too, until `remove`.
    func add(_ handler: InterruptionHandler) { handlers.append(handler) }

    func remove(_ handler: InterruptionHandler) { handlers.removeAll { $0 === handler } }

    /// Without the end of the terminal where that was to be outlived (`nohup`): blocked, it would be seen all the same.
    private static var heeded: [Int32] {
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1 ? [SIGINT, SIGTERM] : signals
    }

    private func received(_ signal: Int32) {
        if signal == SIGINT, leavesControlC { return }
        let code = signal == SIGINT ? ExitCode.interrupted : .terminated
        guard self.code == nil, hasBegun else {
            atOnce()
            _exit(code.rawValue)
        }
        self.code = code
        for handler in handlers { handler.interrupted(code) }
    }
}
