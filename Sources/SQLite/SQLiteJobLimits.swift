/// Limits of an ``SQLiteThread``.
public struct SQLiteJobLimits: Sendable {
    /// Maximum jobs that wait. Further jobs are refused.
    public var jobsWaitingMax: Int
    /// Maximum jobs of one transaction. Bounds the time until the first job of a transaction completes.
    public var jobsPerTransactionMax: Int

    public init(jobsWaitingMax: Int = 16_384, jobsPerTransactionMax: Int = 1024) {
        precondition(jobsWaitingMax > 0 && jobsPerTransactionMax > 0, "limits must be positive")
        self.jobsWaitingMax = jobsWaitingMax
        self.jobsPerTransactionMax = jobsPerTransactionMax
    }
}
