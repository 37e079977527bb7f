/// The base class of the receivers of a session's events. Called on the session's loop.
open class FleetSessionHandler {
    public init() {}

    /// Handles a new report in the session's view.
    open func reportReceived() {}
}
