/// Repeats a check until it returns true. Use this function for state without events, such as a broker's statistics.
///
/// - Parameter condition: The name of the condition in the error.
/// - Throws: `ProcessError` if the check does not return true in time, and the errors of the check.
public func poll(
    until condition: String, within limit: Duration = TestTimeout.duration,
    every interval: Duration = .milliseconds(100),
    _ holds: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while try await !holds() {
        guard clock.now < end else { throw ProcessError("condition not true within \(limit): \(condition)") }
        try await Task.sleep(for: interval)
    }
}
