/// One round of the periodic work of a store, which no command causes.
open class Maintenance {
    /// The minimum age of an event that a round claims. A claim resets the age. The process that stored or claimed a
    /// younger event may still be publishing it.
    public static let eventAgeMillisecondsMin: Int64 = 60_000

    public let rules: RegistrationRules
    /// Maximum number of rows that each task of the round changes.
    public let rowsMax: Int

    public init(rules: RegistrationRules, rowsMax: Int = 1000) {
        (self.rules, self.rowsMax) = (rules, rowsMax)
    }

    /// - Parameters:
    ///   - events: The claimed events. No process claims them again within ``eventAgeMillisecondsMin``.
    ///   - isComplete: False if a task reached `rowsMax`, so that work may remain.
    open func completed(_ events: [StoredEvent], isComplete: Bool) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
