/// One round of the work that no command causes.
open class Maintenance {
    /// The age at which an event is claimed. A younger one is still being published by the process that stored it, or
    /// was claimed by another process.
    public static let eventAgeMillisecondsMin: Int64 = 60_000

    public let rules: RegistrationRules
    /// Maximum number of rows of each table that the round changes.
    public let rowsMax: Int

    public init(rules: RegistrationRules, rowsMax: Int = 1000) {
        (self.rules, self.rowsMax) = (rules, rowsMax)
    }

    /// - Parameters:
    ///   - events: The claimed events. No other process claims them for ``eventAgeMillisecondsMin``.
    ///   - isComplete: Whether no work remains for another round.
    open func completed(_ events: [StoredEvent], isComplete: Bool) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}
