import CLinux
import CSwiftJobs
import Synchronization

/// The event loop of one thread, such as a lane's thread. The loop runs the thread's Swift jobs, timers and events of
/// byte streams, one at a time.
///
/// The loop is a serial executor. The loop also runs jobs that the runtime would pass from this thread to the global
/// pool. A continuation that is resumed on this thread thus enters a plain queue. Tasks that start elsewhere may prefer
/// the loop. `EpollLoop` is the production loop. `VirtualLoop` runs the same code on virtual time.
///
/// Unless a method states otherwise or belongs to an executor protocol, call the method on the loop's thread only.
///
/// `@unchecked Sendable`: other threads use only the inbox, which has a lock, and the owner, which is atomic.
/// All other state is used on the loop's thread only.
open class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    /// Maximum number of jobs of one iteration before sockets are polled again.
    static let jobsPerIterationMax = 16_384

    /// The time of this iteration, read once before its events are handled.
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

    /// Interrupts the wait for events. The function may be called on any thread.
    func wake() {}

    /// Returns a random number for jitter and shuffling. A virtual loop derives the number from its seed.
    open func nextRandom() -> UInt64 {
        UInt64.random(in: .min ... .max)
    }

    /// Opens a connection. The outcome arrives at `handler` as `connected` or `closed`.
    open func connect(to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler) -> ByteTransport {
        fatalError("connect must be overridden")
    }

    /// Opens a connection with the default options.
    public final func connect(to endpoint: Endpoint, handler: ByteStreamHandler) -> ByteTransport {
        connect(to: endpoint, options: ConnectOptions(), handler: handler)
    }

    /// Accepts connections at `endpoint`. Port 0 selects any free port. `accept` must set the handler of each
    /// connection before `accept` returns.
    ///
    /// - Throws: if the loop cannot listen at `endpoint`.
    open func listen(
        on endpoint: Endpoint, backlog: Int = 4096, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        fatalError("listen must be overridden")
    }

    /// Calls `action` on the loop at `time`, or in this or the next iteration if `time` has passed.
    @discardableResult
    public final func schedule(at time: MonotonicTime, _ action: @escaping () -> Void) -> TimerToken {
        assertOnLoop()
        return timers.add(at: time, action)
    }

    /// Calls `action` on the loop after `delay`, counted from the start of this iteration.
    @discardableResult
    public final func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerToken {
        schedule(at: now.monotonic + delay, action)
    }

    /// Cancels a timer. Does nothing if the timer has fired.
    public final func cancel(_ token: TimerToken) {
        assertOnLoop()
        timers.cancel(token)
    }

    /// Waits for `delay`, regardless of task cancellation. Use a timer for a wait that may end early.
    public final func sleep(for delay: Duration) async {
        await withUnsafeContinuation { continuation in
            schedule(after: delay) { continuation.resume() }
        }
    }

    /// Calls `handler.flush()` once at the end of this iteration, even after several requests. If a `flush` makes the
    /// request, the call happens at the end of the next iteration.
    public final func flushAfterIteration(_ handler: ByteStreamHandler) {
        assertOnLoop()
        guard !handler.isAwaitingFlush else { return }
        handler.isAwaitingFlush = true
        unflushed.append(handler)
    }

    /// Calls `action` after the running code has returned, usually in this iteration. The call happens in the next
    /// iteration if a `flush` requests it, or if this iteration has reached its maximum of jobs. The captured objects
    /// may live until all deferred actions have run, and their deinitializers must not defer another action.
    public final func later(_ action: @escaping () -> Void) {
        assertOnLoop()
        deferred.append(action)
    }

    /// Calls `work` on the loop, or releases `work` uncalled if the loop has ended. The function may be called on any
    /// thread.
    public final func post(_ work: @escaping @Sendable () -> Void) {
        if inbox.add(work) { wake() }
    }

    /// Whether an iteration has work that does not wait for events.
    final var hasWork: Bool {
        !ready.isEmpty || !deferred.isEmpty || !unflushed.isEmpty || !inbox.isEmpty
    }

    final var nextTimer: MonotonicTime? { timers.next }

    /// Runs the rest of an iteration after its events. Runs timers first, then posted and deferred work and jobs. Last,
    /// flushes each handler that requested a flush, once.
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

    /// Releases timers and deferred work, which may keep the loop and waiting tasks alive after the loop's end.
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

    /// Makes the calling thread the loop's thread until `leaveThread()`.
    final func enterThread() {
        let taken = owner.compareExchange(expected: 0, desired: Self.currentThread, ordering: .acquiringAndReleasing)
        precondition(taken.exchanged, "the loop is already running")
        Self.takeUnboundJobs
        martlet_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
    }

    final func leaveThread() {
        martlet_set_current_loop(nil)
        owner.store(0, ordering: .releasing)
    }

    /// The one-time setup of a hook. Jobs that the runtime would pass from a loop's thread to the global pool stay on
    /// that loop, in order (decision 20).
    private static let takeUnboundJobs: Void = martlet_set_unbound_job_handler { loop, job in
        let loop = Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue()
        loop.ready.append(QueuedJob(job: unsafeBitCast(job, to: UnownedJob.self), isUnbound: true))
    }

    public final var isOnLoop: Bool {
        owner.load(ordering: .relaxed) == Self.currentThread
    }

    /// Traps if called on another thread, or while the loop does not run.
    public final func assertOnLoop(_ function: StaticString = #function) {
        precondition(isOnLoop, "the function must be called on the loop's thread")
    }

    private static var currentThread: UInt { UInt(pthread_self()) }

    /// The number of jobs that other threads have enqueued since the loop was created. The data path enqueues none.
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
