/// Runs lane code on virtual time, over connections in memory: whatever would wait for the clock happens at once, in an
/// order that the seed alone decides.
public final class VirtualLoop: EventLoop, @unchecked Sendable {
    /// Turns without any virtual time passing after which a run is taken for an endless loop.
    private static let turnsAtOneTimeMax = 100_000
    /// 2026-01-01 00:00:00 UTC, where the wall clock starts.
    private static let startUnixNanoseconds: Int64 = 1_767_225_600_000_000_000

    public enum Ending: Sendable, Hashable {
        /// What was waited for holds.
        case done
        /// Nothing is left that could ever happen.
        case idle
        /// The virtual time ran out.
        case timedOut
        /// Turn follows turn without time passing.
        case livelock
    }

    public let network: VirtualNetwork
    private var random: SeededRandom

    public init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        network = VirtualNetwork(random: SeededRandom(seed: seed ^ 0x9e37_79b9_7f4a_7c15))
        super.init(
            now: Now(
                monotonic: MonotonicTime(nanoseconds: 1_000_000_000), unixNanoseconds: Self.startUnixNanoseconds))
    }

    public override func nextRandom() -> UInt64 { random.next() }

    /// Runs `body` as the loop's thread would: to set up what the loop owns.
    public func enter<Result>(_ body: () throws -> Result) rethrows -> Result {
        enterThread()
        defer { leaveThread() }
        return try body()
    }

    /// Runs on the calling thread until `isDone` holds after a turn, or `limit` of virtual time has passed.
    public func run(limit: Duration, until isDone: () -> Bool) -> Ending {
        enterThread()
        defer { leaveThread() }
        let end = now.monotonic + limit
        var turnsAtThisTime = 0
        while true {
            finishTurn()
            if isDone() { return .done }
            turnsAtThisTime += 1
            if turnsAtThisTime > Self.turnsAtOneTimeMax { return .livelock }
            if hasWork { continue }
            guard let next = nextTimer else { return .idle }
            if next > end { return .timedOut }
            if next > now.monotonic {
                pass(now.monotonic.duration(to: next))
                turnsAtThisTime = 0
            }
        }
    }

    private func pass(_ duration: Duration) {
        now.monotonic = now.monotonic + duration
        now.sinceBoot = now.sinceBoot + duration
        now.unixNanoseconds += duration.nanosecondsSaturated
    }

    /// Ends every connection, tells those who have one, and forgets what was still to come: a world that is left in the
    /// midst of its work would keep itself alive. The loop is not run after that.
    public func end() {
        enter {
            forgetScheduled()
            network.end()
            var turns = 0
            repeat {
                finishTurn()
                turns += 1
            } while hasWork && turns < Self.turnsAtOneTimeMax
            forgetScheduled()
        }
    }

    public override func connect(to endpoint: Endpoint, handler: ByteStreamHandler) -> ByteTransport {
        assertOnLoop()
        return network.connect(to: endpoint, handler: handler, on: self)
    }

    public override func listen(
        on endpoint: Endpoint, backlog: Int = 4096, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        assertOnLoop()
        return try network.listen(on: endpoint, accept: accept)
    }
}
