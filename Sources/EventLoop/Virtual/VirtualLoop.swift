/// Runs lane code on virtual time, over connections in memory: whatever would wait for the clock happens at once, in an
/// order that the seed alone decides.
public final class VirtualLoop: EventLoop, @unchecked Sendable {
    /// Turns without any virtual time passing after which a run is taken for an endless loop.
    private static let iterationsAtOneTimeMax = 100_000
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
    /// Loops that run beside this one, after each of its iterations.
    private var nestedLoops: [NestedLoop] = []

    public init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        network = VirtualNetwork(random: SeededRandom(seed: seed ^ 0x9e37_79b9_7f4a_7c15))
        super.init(
            now: Now(
                monotonic: MonotonicTime(nanoseconds: 1_000_000_000), unixNanoseconds: Self.startUnixNanoseconds))
    }

    public override func nextRandom() -> UInt64 { random.next() }

    func add(_ nestedLoop: NestedLoop) {
        precondition(!isOnLoop, "a nested loop comes before the loop runs")
        nestedLoops.append(nestedLoop)
    }

    /// Runs `body` as the loop's thread would: to set up what the loop and its nested loops own.
    public func enter<Result>(_ body: () throws -> Result) rethrows -> Result {
        enterThread()
        // Last, so that what resumes without an executor is theirs: their peers have no tasks.
        for nestedLoop in nestedLoops { nestedLoop.enterThread() }
        defer {
            for nestedLoop in nestedLoops { nestedLoop.leaveThread() }
            leaveThread()
        }
        return try body()
    }

    /// Runs on the calling thread until `isDone` holds after a turn, or `limit` of virtual time has passed.
    public func run(limit: Duration, until isDone: () -> Bool) -> Ending {
        enter { runIterations(limit: limit, until: isDone) }
    }

    private func runIterations(limit: Duration, until isDone: () -> Bool) -> Ending {
        let end = now.monotonic + limit
        var iterationsAtThisTime = 0
        while true {
            finishIteration()
            for nestedLoop in nestedLoops { nestedLoop.runIteration() }
            if isDone() { return .done }
            iterationsAtThisTime += 1
            if iterationsAtThisTime > Self.iterationsAtOneTimeMax { return .livelock }
            if hasWorkAnywhere { continue }
            guard let next = nextTimerOfAll else { return .idle }
            if next > end { return .timedOut }
            if next > now.monotonic {
                pass(now.monotonic.duration(to: next))
                iterationsAtThisTime = 0
            }
        }
    }

    private var hasWorkAnywhere: Bool { hasWork || nestedLoops.contains { $0.hasWork } }

    private var nextTimerOfAll: MonotonicTime? {
        nestedLoops.reduce(nextTimer) { next, nestedLoop in
            guard let next, let other = nestedLoop.nextTimer else { return next ?? nestedLoop.nextTimer }
            return min(next, other)
        }
    }

    private func pass(_ duration: Duration) {
        now.monotonic = now.monotonic + duration
        now.sinceBoot = now.sinceBoot + duration
        now.unixNanoseconds += duration.nanosecondsSaturated
        for nestedLoop in nestedLoops { nestedLoop.now = now }
    }

    /// Does what is to be done now, ends every connection, tells those who have one, and forgets what was still to come: a world
    /// that is left in the midst of its work would keep itself alive. The loop is not run after that.
    public func end() {
        enter {
            endWork()
            network.end()
            endWork()
        }
    }

    private func endWork() {
        var iterations = 0
        repeat {
            finishIteration()
            for nestedLoop in nestedLoops { nestedLoop.runIteration() }
            iterations += 1
        } while hasWorkAnywhere && iterations < Self.iterationsAtOneTimeMax
        forgetAll()
    }

    private func forgetAll() {
        forgetScheduled()
        for nestedLoop in nestedLoops { nestedLoop.forgetScheduled() }
    }

    /// One attempt: an endpoint of the virtual network has one address. Of the options, the time to connect counts.
    public override func connect(
        to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler
    ) -> ByteTransport {
        assertOnLoop()
        return network.connect(to: endpoint, options: options, handler: handler, on: self)
    }

    public override func listen(
        on endpoint: Endpoint, backlog: Int = 4096, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        assertOnLoop()
        return try network.listen(on: endpoint, accept: accept)
    }
}
