import CommandKit
import Worker

extension ExitCode {
    init(_ exit: WorkerExit) {
        self =
            switch exit {
            case .success: .success
            case .failed: .failed
            case .timedOut: .timedOut
            case .interrupted: .interrupted
            case .terminated: .terminated
            }
    }
}
