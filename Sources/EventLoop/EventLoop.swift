import CLinux
import CSwiftJobs
import Synchronization

/// One thread's event loop: runs the Swift jobs, timers and byte streams of a lane, one at a time.
///
/// It is the lane's serial executor, and takes what the runtime would resume on its global pool from this thread, so that a
/// resumed continuation goes to a plain queue of this thread. Tasks that are begun elsewhere may prefer it. `EpollLoop` is
/// the real one, `VirtualLoop` runs the same code on virtual time.
///
/// Unless a method says otherwise it may be called on the loop's thread only.
///
/// `@unchecked Sendable`: what other threads may touch is the inbox, which has a lock, and the owner, which is atomic;
/// all else is guarded by `assertOnLoop()`.
open class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// Jobs run in one turn before sockets are looked at again.
    static let jobsPerIterationMax = 16_384

    /// The time of this turn: read once, before the turn's events are handled.
    public final var now: Now
    private let owner = Atomic<UInt>(0)
    let inbox = Inbox()
    private var ready = JobQueue()
    private var timers = TimerQueue()
    private var deferred: [() -> Void] = []
    private var unflushed: [ByteStreamHandler] = []
    private var serialExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    private var taskExecutor: UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

    init(now: Now) {
        self.now = now
    }

    /// Ends the wait for events; called from any thread.
    func wake() {}

    /// A random number for jitter and shuffling; follows the seed in a virtual loop.
    open func nextRandom() -> UInt64 {
        UInt64.random(in: .min ... .max)
    }

    /// Opens a connection; the outcome arrives at `handler` as `connected` or `closed`.
    open func connect(to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler) -> ByteTransport {
        fatalError("a kind of loop provides this")
    }

    /// Opens a connection with the default options.
    public final func connect(to endpoint: Endpoint, handler: ByteStreamHandler) -> ByteTransport {
        connect(to: endpoint, options: ConnectOptions(), handler: handler)
    }

    /// Accepts connections at `endpoint`, port 0 being any free one. `accept` gives each its handler before it returns.
    ///
    /// Throws when the address cannot be bound.
    open func listen(
        on endpoint: Endpoint, backlog: Int = 4096, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        fatalError("a kind of loop provides this")
    }

    /// Calls `action` on the loop at `time`, or in the next turn when that has passed.
    @discardableResult
    public final func schedule(at time: MonotonicTime, _ action: @escaping () -> Void) -> TimerToken {
        assertOnLoop()
        return timers.add(at: time, action)
    }

    /// Calls `action` on the loop after `delay`, counted from the start of this turn.
    @discardableResult
    public final func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerToken {
        schedule(at: now.monotonic + delay, action)
    }

    /// Forgets a timer; harmless when it has fired.
    public final func cancel(_ token: TimerToken) {
        assertOnLoop()
        timers.cancel(token)
    }

    /// Waits for `delay`. Does not end early when the task is cancelled: waits that may be broken off are timers.
    public final func sleep(for delay: Duration) async {
        await withUnsafeContinuation { continuation in
            schedule(after: delay) { continuation.resume() }
        }
    }

    /// Calls `handler.flush()` once at the end of this turn, however often it is asked for.
    public final func flushAfterIteration(_ handler: ByteStreamHandler) {
        assertOnLoop()
        guard !handler.isAwaitingFlush else { return }
        handler.isAwaitingFlush = true
        unflushed.append(handler)
    }

    /// Calls `action` after what is running now has returned: later in this turn, or in the next where a `flush` asks for it or
    /// this one has had its jobs. What it holds may live until all of them have run, and must not ask for another as it ends.
    public final func later(_ action: @escaping () -> Void) {
        assertOnLoop()
        deferred.append(action)
    }

    /// Calls `work` on the loop. From any thread.
    public final func post(_ work: @escaping @Sendable () -> Void) {
        if inbox.add(work) { wake() }
    }

    /// Whether a turn has work that does not wait for events.
    final var hasWork: Bool {
        !ready.isEmpty || !deferred.isEmpty || !unflushed.isEmpty || !inbox.isEmpty
    }

    final var nextTimer: MonotonicTime? { timers.next }

    /// Everything of a turn after its events: posted work, timers, jobs, then one flush for each stream that has bytes.
    final func finishIteration() {
        inbox.take(jobs: &ready, work: &deferred)
        fireTimers()
        var jobsLeft = Self.jobsPerIterationMax
        repeat {
            runDeferred()
            runJobs(&jobsLeft)
        } while jobsLeft > 0 && !(ready.isEmpty && deferred.isEmpty)
        flush()
    }

    private func fireTimers() {
        let newest = timers.newest
        while let action = timers.popDue(until: now.monotonic, newest: newest) { action() }
    }

    private func runDeferred() {
        guard !deferred.isEmpty else { return }
        var index = 0
        while index < deferred.count {
            let action = deferred[index]
            index += 1
            action()
        }
        deferred.removeAll(keepingCapacity: true)
    }

    private func runJobs(_ left: inout Int) {
        let (serialExecutor, taskExecutor) = (serialExecutor, taskExecutor)
        while left > 0, let next = ready.popFirst() {
            left -= 1
            if next.isUnbound {
                next.job.runSynchronously(on: serialExecutor)
            } else {
                next.job.runSynchronously(isolatedTo: serialExecutor, taskExecutor: taskExecutor)
            }
        }
    }

    /// Ends what would keep the loop and those who wait for it alive after it has ended.
    final func forgetScheduled() {
        timers = TimerQueue()
        deferred = []
        unflushed = []
    }

    private func flush() {
        var handlers: [ByteStreamHandler] = []
        swap(&handlers, &unflushed)
        for handler in handlers {
            handler.isAwaitingFlush = false
            handler.flush()
        }
        guard unflushed.isEmpty else { return }
        handlers.removeAll(keepingCapacity: true)
        swap(&handlers, &unflushed)
    }

    /// Makes the calling thread the loop's until `leaveThread()`.
    final func enterThread() {
        let taken = owner.compareExchange(expected: 0, desired: Self.currentThread, ordering: .acquiringAndReleasing)
        precondition(taken.exchanged, "a loop runs on one thread at a time")
        Self.takeUnboundJobs
        martlet_thread_belongs_to(Unmanaged.passUnretained(self).toOpaque())
    }

    final func leaveThread() {
        martlet_thread_belongs_to(nil)
        owner.store(0, ordering: .releasing)
    }

    /// What the runtime would hand to its global pool from the thread of a loop stays on that loop, in its order (decision
    /// 20).
    private static let takeUnboundJobs: Void = martlet_take_unbound_jobs { loop, job in
        let loop = Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue()
        loop.ready.append(QueuedJob(job: unsafeBitCast(job, to: UnownedJob.self), isUnbound: true))
    }

    public final var isOnLoop: Bool {
        owner.load(ordering: .relaxed) == Self.currentThread
    }

    /// Traps when called from another thread, or while the loop does not run.
    public final func assertOnLoop(_ function: StaticString = #function) {
        precondition(isOnLoop, "called off its loop's thread")
    }

    private static var currentThread: UInt { UInt(pthread_self()) }

    /// Jobs that another thread enqueued since the loop was made. The data path causes none.
    public final var jobsFromOtherThreads: Int { inbox.jobsAdded }

    public final func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isOnLoop {
            ready.append(QueuedJob(job: job))
        } else if inbox.add(job) {
            wake()
        }
    }

    public final func asUnownedSerialExecutor() -> UnownedSerialExecutor { serialExecutor }

    public final func asUnownedTaskExecutor() -> UnownedTaskExecutor { taskExecutor }

    public final func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    public final func checkIsolated() { assertOnLoop() }
}
