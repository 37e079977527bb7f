/// What a simulator's process is like, apart from what it knows of the world: `SimulatorState`.
public struct SimulatorConfiguration: Sendable {
    /// How long a request waits for its answer, from when it had arrived whole.
    public var answerDelay = Duration.zero
    /// Connections served at once; more are reset when they are accepted.
    public var connectionsMax = 10_000
    /// Requests kept in the log.
    public var requestsLoggedMax = 0
    /// Request ids remembered to tell duplicates.
    public var idsRememberedMax = 4_000_000
    /// Whether the log keeps SHA-256 of each payload.
    public var hashesPayloads = false

    public init() {}
}
