import CommandKit
import DeadLetters

extension ExitCode {
    init(_ signal: Interruption.Signal) {
        self =
            switch signal {
            case .interrupt: .interrupted
            case .terminate: .terminated
            }
    }
}

extension Interruption {
    /// The exit code after a signal; nil before.
    var code: ExitCode? { signal.map { ExitCode($0) } }
}
