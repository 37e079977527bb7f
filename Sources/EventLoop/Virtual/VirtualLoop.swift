/// A loop on virtual time, with connections in memory. Waits for the clock take no real time, and the seed alone
/// decides the order of events.
public final class VirtualLoop: EventLoop, @unchecked Sendable {
    /// Maximum number of iterations at one virtual time. A run with more iterations counts as a livelock.
    private static let iterationsAtOneTimeMax = 100_000
    /// The start of the wall clock, which is 2026-01-01 00:00:00 UTC.
    private static let startUnixNanoseconds: Int64 = 1_767_225_600_000_000_000

    public enum Outcome: Sendable, Hashable {
        /// The fulfillment of the awaited condition.
        case done
        /// A loop without work and without timers.
        case idle
        /// The end of the virtual time limit.
        case timedOut
        /// Too many iterations at one virtual time.
        case livelock
    }

    public let network: VirtualNetwork
    private var random: SeededRandom
    /// The loops on the same thread that run after each iteration of this loop.
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
        precondition(!isOnLoop, "add nested loops before the loop runs")
        nestedLoops.append(nestedLoop)
    }

    /// Runs `body` as on the loop's thread, to set up objects of the loop and its nested loops.
    public func enter<Result>(_ body: () throws -> Result) rethrows -> Result {
        enterThread()
        // Enter nested loops last, so that the nested loops receive jobs without an executor. Code on the virtual loop
        // itself uses no tasks.
        for nestedLoop in nestedLoops { nestedLoop.enterThread() }
        defer {
            for nestedLoop in nestedLoops { nestedLoop.leaveThread() }
            leaveThread()
        }
        return try body()
    }

    /// Runs on the calling thread until a case of ``Outcome`` applies, and returns this case. Calls `isDone` after each
    /// iteration.
    ///
    /// - Parameter limit: the virtual time after which the outcome is `timedOut`.
    public func run(limit: Duration, until isDone: () -> Bool) -> Outcome {
        enter { runIterations(limit: limit, until: isDone) }
    }

    private func runIterations(limit: Duration, until isDone: () -> Bool) -> Outcome {
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

    /// Finishes current work, ends all connections, notifies their handlers, and drops timers. Without this
    /// call, the objects of an unfinished run would keep each other alive. The loop must not run afterward.
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

    /// Makes one attempt, because an endpoint of the virtual network has one address. Of the options, only the time
    /// limit of the connect applies.
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
