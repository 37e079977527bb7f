/// One round of the periodic work of a store, which no command causes.
open class Maintenance {
    /// The minimum age of an event that a round claims. A claim resets the age. The process that stored or claimed a
    /// younger event may still be publishing it.
    public static let eventAgeMillisecondsMin: Int64 = 60_000

    public let rules: RegistrationRules
    /// Maximum number of rows that each task of the round changes.
    public let rowsMax: Int
    /// The data key of expired rows or events that the round omitted, because the key file lacks it. A process that has
    /// the key performs their maintenance. Nil if the round omitted none.
    public private(set) var missingKey: MissingDataKey?

    public init(rules: RegistrationRules, rowsMax: Int = 1000) {
        (self.rules, self.rowsMax) = (rules, rowsMax)
    }

    /// Reports that the round omits rows or events. A store calls this before `completed`.
    public final func omitted(_ missing: MissingDataKey) { missingKey = missing }

    /// Receives the outcome of the round.
    ///
    /// - Parameters:
    ///   - events: The claimed events. No process claims them again within ``eventAgeMillisecondsMin``.
    ///   - isComplete: False if a task reached `rowsMax`, so that work may remain.
    open func completed(_ events: [StoredEvent], isComplete: Bool) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
