/// Ends something that a command has begun, at the first signal. Called on the loop's thread.
open class InterruptionHandler {
    public init() {}

    /// - Parameter signal: ends the process once the command has ended.
    open func interrupted(_ signal: Interruption.Signal) {}
}
