/// Limits of an ``SQLiteThread``.
public struct SQLiteJobLimits: Sendable {
    /// Maximum number of waiting jobs. The thread refuses further jobs.
    public var jobsWaitingMax: Int
    /// Maximum number of jobs in one transaction. It bounds the time until the first job of a transaction completes.
    public var jobsPerTransactionMax: Int

    public init(jobsWaitingMax: Int = 16_384, jobsPerTransactionMax: Int = 1024) {
        precondition(jobsWaitingMax > 0 && jobsPerTransactionMax > 0, "limits must be positive")
        self.jobsWaitingMax = jobsWaitingMax
        self.jobsPerTransactionMax = jobsPerTransactionMax
    }
}
