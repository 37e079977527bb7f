/// A connection to a store for changes.
///
/// Loop-bound. Callers use the writer only on its loop. The writer calls receivers on the same loop.
///
/// Each change is one transaction. The writer completes or fails the argument of each call once. After a failure, the
/// transaction may nevertheless be committed. The caller may safely repeat the call.
open class RegistrationWriter {
    public init() {}

    /// Connects, and reconnects until `close`.
    ///
    /// - Parameter onChange: Called with nil when the writer becomes ready, and with a fault when it cannot connect or
    ///   loses the connection.
    open func start(onChange: @escaping (StoreFault?) -> Void) { fatalError("start must be overridden") }

    /// Maximum number of commands and ends in a batch of an import. The caller applies the limit.
    open var importCommandsMax: Int { CommandBatch.commandsMax }

    /// Applies commands in their order, and stores their events.
    open func apply(_ batch: CommandBatch) { fatalError("apply must be overridden") }

    /// Deletes published events.
    open func delete(_ events: EventDeletion) { fatalError("delete must be overridden") }

    /// Ends expired registrations, deletes old tombstones and marks, and claims events that must be published.
    open func maintain(_ maintenance: Maintenance) { fatalError("maintain must be overridden") }

    /// Reads registrations in the order of their keys.
    open func read(_ page: RegistrationPage) { fatalError("read must be overridden") }

    /// Reads marks in the order of their keys.
    open func read(_ page: MarkPage) { fatalError("read must be overridden") }

    /// Edits registrations in the order of their keys.
    open func edit(_ page: EditPage) { fatalError("edit must be overridden") }

    /// Completes or fails all work, and closes the connection.
    open func close() async { fatalError("close must be overridden") }
}
