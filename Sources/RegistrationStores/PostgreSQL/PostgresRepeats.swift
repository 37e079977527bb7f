import PostgreSQL

/// Decides whether a transaction that failed is repeated at once. Pure.
struct PostgresRepeats {
    /// Maximum number of repeats of one transaction.
    static let repeatsMax = 3
    private static let uniqueViolation = SQLState("23505")

    private var count = 0

    /// Returns whether to repeat the transaction after this error, and counts the repeat.
    mutating func repeats(after error: PostgresError) -> Bool {
        switch error.outcome {
        case .retry, .stalePlan: return next()
        case .data: return error.state == Self.uniqueViolation && next()
        case .unreachable, .refused, .schema, .full, .readOnly, .lockTimeout, .other: return false
        }
    }

    /// Returns whether a repeat remains, and counts it.
    mutating func next() -> Bool {
        guard count < Self.repeatsMax else { return false }
        count += 1
        return true
    }
}
