/// How a simulator behaves apart from what it knows of the world.
public struct SimulatorConfiguration: Sendable {
    public var rules = RuleOptions()
    public var gate = ServerStreamGate.Mode.enforce
    /// Streams of one connection after its first authenticated push.
    public var streamsMax = 1000
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
