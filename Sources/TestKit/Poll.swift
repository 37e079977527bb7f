/// Repeats a check until it holds. For state that sends no event, such as a broker's statistics.
///
/// - Parameter condition: what the check waits for, for the error.
/// - Throws: `ProcessError` if it does not hold in time; what the check throws.
public func poll(
    until condition: String, within limit: Duration = TestTimeout.duration,
    every interval: Duration = .milliseconds(100),
    _ holds: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while try await !holds() {
        guard clock.now < end else { throw ProcessError("not within \(limit): \(condition)") }
        try await Task.sleep(for: interval)
    }
}
