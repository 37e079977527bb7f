import CommandKit

/// Ends something that a command has begun, at the first signal. Called on the loop's thread.
class InterruptionHandler {
    /// - Parameter code: how the process will exit.
    func interrupted(_ code: ExitCode) {}
}
