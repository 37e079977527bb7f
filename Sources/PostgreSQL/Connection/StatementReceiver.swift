/// A receiver of the outcome of one statement. The type is a base class, so that an outcome costs one virtual call.
///
/// The connection calls the methods on the loop's thread, never during a call of the receiver to the connection. The
/// methods may send statements and close the connection.
open class StatementReceiver {
    public init() {}

    /// Receives one row of a statement with `rowByRow` delivery. The statement may still fail.
    open func received(row: borrowing PostgresRows) {}

    /// Receives the rows of the completed statement. If the statement is outside a transaction, the server has
    /// committed it. The rows are valid during the call. With `rowByRow` delivery, there are none.
    open func completed(_ rows: borrowing PostgresRows) {}

    /// Receives the error of the failed statement. If the connection was lost, the server may nevertheless have
    /// executed the statement.
    open func failed(_ error: PostgresError) {}
}
