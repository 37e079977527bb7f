import EventLoop
import Glibc

/// SIGINT and SIGTERM as a wish to end in order: what was begun is finished. The second one ends the process at once.
final class Interruption {
    static let signals = [SIGINT, SIGTERM]

    /// How the process ends because of it; nil before.
    private(set) var code: ExitCode?
    /// Called on the loop at the first signal.
    var onSignal: () -> Void = {}
    private var source: SignalSource?

    /// To be called before other threads are started.
    static func block() { SignalSource.block(signals) }

    init(on loop: EpollLoop) {
        // Without a source the signals stay blocked, and the work ends by itself.
        source = try? SignalSource(loop: loop, signals: Self.signals) { [weak self] in self?.received($0) }
    }

    func end() {
        source?.close()
        source = nil
        onSignal = {}
    }

    private func received(_ signal: Int32) {
        let code = signal == SIGTERM ? ExitCode.terminated : .interrupted
        guard self.code == nil else { _exit(code.rawValue) }
        self.code = code
        onSignal()
    }
}
