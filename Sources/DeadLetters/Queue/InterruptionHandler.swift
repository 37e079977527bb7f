/// Stops work of a command at the first signal. Called on the loop's thread.
open class InterruptionHandler {
    public init() {}

    /// - Parameter signal: determines the exit status after the command has completed.
    open func interrupted(_ signal: Interruption.Signal) {}
}
