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
    /// The exit code for the received signal; nil without one.
    var code: ExitCode? { signal.map { ExitCode($0) } }
}
