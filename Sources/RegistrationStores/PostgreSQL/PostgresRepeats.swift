import PostgreSQL

/// The decision whether an operation repeats its failed statement or transaction at once. Pure.
struct PostgresRepeats {
    /// Maximum number of repeats of one operation.
    static let repeatsMax = 3
    private static let uniqueViolation = SQLState("23505")

    private var count = 0

    /// Returns whether to repeat the statement or transaction after this error. If so, counts the repeat.
    mutating func repeats(after error: PostgresError) -> Bool {
        switch error.outcome {
        case .retry, .stalePlan: return next()
        case .data: return error.state == Self.uniqueViolation && next()
        case .unreachable, .refused, .databaseMissing, .privilegeMissing, .schema, .sharedSession, .full, .readOnly,
            .lockTimeout, .other:
            return false
        }
    }

    /// Returns whether another repeat is allowed. If so, counts the repeat.
    mutating func next() -> Bool {
        guard count < Self.repeatsMax else { return false }
        count += 1
        return true
    }
}
