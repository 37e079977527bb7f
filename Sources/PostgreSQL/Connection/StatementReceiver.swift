/// Receives the outcome of one statement. A base class, so that an outcome costs one virtual call.
///
/// Each method is called on the loop's thread, never inside a call of the receiver to the connection. Receivers may
/// send statements and close the connection.
open class StatementReceiver {
    public init() {}

    /// A row of a statement with delivery row by row. The statement may still fail.
    open func received(row: borrowing PostgresRows) {}

    /// The statement is complete, and committed unless it belongs to a transaction. The rows are valid during the call;
    /// none remain after delivery row by row.
    open func completed(_ rows: borrowing PostgresRows) {}

    /// The statement failed. If the connection was lost, the server may have executed it all the same.
    open func failed(_ error: PostgresError) {}
}
