/// The number of lines in the next batch of an import. Pure.
///
/// Large batches need fewer commits. While the transaction of a large batch is open, workers apply no commands, so a
/// slow store gets smaller batches.
struct ImportBatchSize {
    /// The duration of a batch above which the next batches are smaller. Workers wait for a lock for one second at
    /// most.
    static let millisecondsMax = 250

    private let linesMin: Int
    private let linesMax: Int
    private(set) var lines: Int

    /// Creates the size of the first batch, which is the minimum.
    init(linesMin: Int, linesMax: Int) {
        (self.linesMin, self.linesMax, lines) = (linesMin, max(linesMin, linesMax), linesMin)
    }

    /// Adapts the size to the time that the store needed for a batch.
    mutating func batchCompleted(lines completed: Int, after duration: Duration) {
        if duration > .milliseconds(Self.millisecondsMax) {
            lines = max(linesMin, lines / 2)
        } else if completed >= lines, duration * 2 <= .milliseconds(Self.millisecondsMax) {
            lines = min(linesMax, lines * 2)
        }
    }
}
