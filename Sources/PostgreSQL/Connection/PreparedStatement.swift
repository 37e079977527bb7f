/// A statement that each session prepares.
public struct PreparedStatement: Sendable {
    /// The way in which the rows of a result reach their receiver.
    public enum Delivery: Sendable {
        /// All rows in one call. libpq holds the whole result in memory.
        case whole
        /// One row in each call, so that memory use does not depend on the size of the result.
        case rowByRow
    }

    /// SQL with parameters `$1`, `$2`, …
    public let sql: String
    /// The type of each parameter.
    public let parameters: [PostgresType]
    public let delivery: Delivery

    public init(_ sql: String, _ parameters: [PostgresType] = [], delivery: Delivery = .whole) {
        self.sql = sql
        self.parameters = parameters
        self.delivery = delivery
    }
}
