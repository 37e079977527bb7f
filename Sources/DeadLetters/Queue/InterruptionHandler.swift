/// A handler that stops work of a command at the first signal. The loop calls handlers on its thread.
open class InterruptionHandler {
    public init() {}

    /// Handles the first signal.
    ///
    /// - Parameter signal: determines the exit status after the command has completed.
    open func interrupted(_ signal: Interruption.Signal) {}
}
