/// What a simulator's process is like, apart from what it knows of the world: `SimulatorState`.
public struct SimulatorConfiguration: Sendable {
    /// How long a request waits for its answer, from when it had arrived whole.
    public var answerDelay = Duration.zero
    /// Connections served at once; more are reset when they are accepted.
    public var connectionsMax = 10_000
    /// Requests kept in the log, with about 1.5 KB each; 0 for none.
    public var requestsLoggedMax = 10_000
    /// Request ids remembered to tell duplicates, the newest; 32 bytes each, at most twice that.
    public var idsRememberedMax = 1_000_000
    /// From which follows what faults strike that strike a share only, and how long their latencies are.
    public var faultSeed: UInt64 = 1

    public init() {}
}
