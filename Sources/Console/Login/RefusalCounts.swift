import EventLoop

/// The refusals of requests that the audit records, by their source. Each source has a limit of its own, so that no
/// source can displace the records of another. Refusals above a limit are counted. It performs no I/O.
struct RefusalCounts: Sendable {
    enum Source: String, Sendable, CaseIterable {
        /// Requests of an operator that the console knows.
        case operators = "of operators"
        /// Requests without a login, such as failed logins.
        case unknown = "without a login"
        /// Requests with a foreign Host or Origin header.
        case foreign = "of other sites"
    }

    /// Maximum number of records a second of each source, after a burst, so that an attacker cannot displace other
    /// records of the stream.
    static let perSecond = 1
    static let burst = 20

    private var paces: [Source: RequestPace] = [:]
    /// The number of refusals without a record, since the last record that counts them.
    private(set) var omitted: [Source: Int] = [:]

    /// Returns whether a refusal is recorded, and counts the refusal otherwise.
    mutating func admits(_ source: Source, at now: MonotonicTime) -> Bool {
        if paces[source, default: RequestPace(perSecond: Self.perSecond, burst: Self.burst)].admits(at: now) {
            return true
        }
        omit(source)
        return false
    }

    /// Counts refusals without a record.
    mutating func omit(_ source: Source, _ count: Int = 1) { omitted[source, default: 0] += count }

    /// Returns the counts in the order of the sources, and begins to count from 0.
    mutating func takeOmitted() -> [(source: Source, count: Int)] {
        defer { omitted = [:] }
        return Source.allCases.compactMap { source in omitted[source].map { (source, $0) } }
    }
}
