/// A connection to a store for changes. Each process has one.
///
/// Loop-bound: all functions are called on the loop of the writer, which calls all receivers. Each function performs
/// one transaction, and completes or fails its argument once. After a failure, the transaction may be committed all the
/// same; a repeat changes nothing.
open class RegistrationWriter {
    public init() {}

    /// Connects, and reconnects until `close`.
    ///
    /// - Parameter onChange: Called when the writer becomes ready (nil) or stops being ready.
    open func start(onChange: @escaping (StoreFault?) -> Void) { fatalError("start must be overridden") }

    /// Applies commands in their order, and stores their events.
    open func apply(_ batch: CommandBatch) { fatalError("apply must be overridden") }

    /// Deletes events that are published.
    open func delete(_ events: EventDeletion) { fatalError("delete must be overridden") }

    /// Ends expired registrations, deletes old tombstones and marks, and claims events that must be published.
    open func maintain(_ maintenance: Maintenance) { fatalError("maintain must be overridden") }

    /// Reads registrations in the order of their keys.
    open func read(_ page: RegistrationPage) { fatalError("read must be overridden") }

    /// Edits registrations in the order of their keys.
    open func edit(_ page: EditPage) { fatalError("edit must be overridden") }

    /// Completes or fails all work, and closes the connection.
    open func close() async { fatalError("close must be overridden") }
}
