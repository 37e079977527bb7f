import CLinux
import Glibc

/// The production loop, with epoll for sockets and signals, and an eventfd for wake-ups by other threads.
public final class EpollLoop: EventLoop, @unchecked Sendable {
    /// Maximum number of events read from the kernel per iteration.
    private static let eventsPerIterationMax = 256
    /// Maximum number of bytes per read of a socket. All sockets share one buffer.
    static let readBytesMax = 32 * 1024

    private let epoll: Int32
    private let wakeUp: Int32
    private var watches: [DescriptorRegistration?] = []
    private var freeWatches: [Int] = []
    private var lastGeneration: UInt32 = 0
    private var isStopping = false
    private var hasPreciseWait = true
    private var events = [epoll_event](repeating: epoll_event(), count: eventsPerIterationMax)
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytesMax, alignment: 16)

    /// The resolver of the host names to connect to. The resolver caches no answers.
    var nameLookups = NameLookups.shared
    /// The memory that decides in which order each connect attempts the addresses of a host.
    var addressMemory = AddressMemory()
    /// Completions of pending lookups, by number. A lookup thread knows the number instead of the completion.
    private var nameWaiters: [Int: (Resolver.Answer) -> Void] = [:]
    private var lastNameWaiter = 0

    /// Maximum time from the deadline of the first timer to the iteration that fires it, for a process that runs.
    private static let latenessMax: Duration = .milliseconds(100)

    /// The number of iterations since the loop was created, for a watchdog on another thread.
    public let iterations = IterationCounter()

    /// Creates a loop, and ignores SIGPIPE in the whole process.
    ///
    /// - Throws: `resources` if the kernel provides no descriptor.
    public init() throws(TransportError) {
        // A write to a closed socket must return an error instead of terminating the process.
        signal(SIGPIPE, SIG_IGN)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wakeUp = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard epoll >= 0, wakeUp >= 0 else {
            let error = errno
            // `deinit` does not run, because `super.init` has not.
            if epoll >= 0 { close(epoll) }
            if wakeUp >= 0 { close(wakeUp) }
            readBuffer.deallocate()
            throw TransportError(.resources, "cannot create an event loop: \(errorText(error))", underlying: error)
        }
        super.init(now: Self.readClocks())
        var event = epoll_event(events: UInt32(EPOLLIN.rawValue), data: epoll_data_t(u64: UInt64.max))
        epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event)
    }

    deinit {
        close(epoll)
        close(wakeUp)
        readBuffer.deallocate()
    }

    /// Runs on the calling thread until `stop()`. Then closes open streams and listeners and drops timers, without
    /// calling their handlers.
    public func run() {
        enterThread()
        defer { leaveThread() }
        isStopping = false
        inbox.open()
        while !isStopping {
            wait()
            finishIteration()
            iterations.advance()
        }
        forgetScheduled()
        inbox.close()
        nameWaiters = [:]
        for watch in watches {
            guard let watch else { continue }
            end(watch)
            watch.abandoned()
        }
    }

    /// Ends `run()` after the current or the next iteration. The function may be called on any thread.
    public func stop() {
        post { self.isStopping = true }
    }

    private func wait() {
        let count = waitForEvents()
        now = Self.readClocks()
        handleEvents(count)
        // The process may have been stopped after the wait and before the reading of the clocks.
        if let nextTimer, nextTimer + Self.latenessMax < now.monotonic {
            handleEvents(epoll_wait(epoll, &events, Int32(events.count), 0))
        }
    }

    private func handleEvents(_ count: Int32) {
        guard count > 0 else { return }
        for index in 0..<Int(count) {
            let event = events[index]
            if event.data.u64 == .max {
                var value: UInt64 = 0
                read(wakeUp, &value, 8)
            } else if let watch = watches[Int(event.data.u64 & 0xffff_ffff)],
                watch.generation == UInt32(truncatingIfNeeded: event.data.u64 >> 32)
            {
                watch.action(event.events)
            }
        }
    }

    /// Waits for events and returns their number.
    ///
    /// Kernels before 5.11, and valgrind, lack the call with nanosecond precision. On such a system, the wait is
    /// rounded up to whole milliseconds, so the timer is due afterward.
    ///
    /// When a stopped process continues, the wait ends with EINTR. Timers may then be due, although the responses that
    /// prevent their timeouts have arrived. The function therefore fetches the events without a wait.
    private func waitForEvents() -> Int32 {
        let nanoseconds = waitNanoseconds
        if hasPreciseWait {
            var wait = timespec()
            if let nanoseconds {
                wait = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
            }
            let count = withUnsafePointer(to: wait) {
                epoll_pwait2(epoll, &events, Int32(events.count), nanoseconds == nil ? nil : $0, nil)
            }
            guard count < 0 else { return count }
            if errno == EINTR { return epoll_wait(epoll, &events, Int32(events.count), 0) }
            // A sandbox may forbid the call with an error other than ENOSYS.
            hasPreciseWait = false
        }
        let milliseconds = nanoseconds.map { Int32(clamping: ($0 + 999_999) / 1_000_000) } ?? -1
        let count = epoll_wait(epoll, &events, Int32(events.count), milliseconds)
        return count < 0 && errno == EINTR ? epoll_wait(epoll, &events, Int32(events.count), 0) : count
    }

    /// The maximum time to wait for events. It is 0 if there is work, and nil if there is neither work nor a timer.
    private var waitNanoseconds: Int64? {
        if hasWork { return 0 }
        guard let next = nextTimer else { return nil }
        return max(0, next.nanoseconds &- Self.readMonotonicClock().nanoseconds)
    }

    override func wake() {
        var one: UInt64 = 1
        write(wakeUp, &one, 8)
    }

    /// Reads all clocks. The function may be called on any thread.
    package static func readClocks() -> Now {
        Now(
            monotonic: readMonotonicClock(),
            sinceBoot: MonotonicTime(nanoseconds: nanoseconds(CLOCK_BOOTTIME)),
            unixNanoseconds: nanoseconds(CLOCK_REALTIME))
    }

    /// Reads the monotonic clock. The function may be called on any thread.
    package static func readMonotonicClock() -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds(CLOCK_MONOTONIC))
    }

    private static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Calls `action` with the epoll events of `descriptor` until the watch is ended. Calls `abandoned` if the loop
    /// ends before the watch. Returns nil, with `errno` set, if the kernel refuses the descriptor.
    func watch(
        _ descriptor: Int32, for events: EPOLL_EVENTS, action: @escaping (UInt32) -> Void,
        abandoned: @escaping () -> Void
    ) -> DescriptorRegistration? {
        assertOnLoop()
        let slot = freeWatches.popLast() ?? watches.endIndex
        lastGeneration &+= 1
        let watch = DescriptorRegistration(
            descriptor: descriptor, slot: slot, generation: lastGeneration, events: events.rawValue, action: action,
            abandoned: abandoned)
        var event = epoll_event(events: watch.events, data: epoll_data_t(u64: watch.key))
        guard epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
            freeWatches.append(slot)
            if slot == watches.endIndex { watches.append(nil) }
            return nil
        }
        if slot == watches.endIndex { watches.append(watch) } else { watches[slot] = watch }
        return watch
    }

    func change(_ watch: DescriptorRegistration, to events: UInt32) {
        guard watch.events != events else { return }
        watch.events = events
        var event = epoll_event(events: events, data: epoll_data_t(u64: watch.key))
        epoll_ctl(epoll, EPOLL_CTL_MOD, watch.descriptor, &event)
    }

    /// Ends a watch. Call this function before the descriptor is closed.
    func end(_ watch: DescriptorRegistration) {
        guard watches[watch.slot] === watch else { return }
        epoll_ctl(epoll, EPOLL_CTL_DEL, watch.descriptor, nil)
        watches[watch.slot] = nil
        freeWatches.append(watch.slot)
    }

    /// A handle of a pending lookup, for `stopResolving`.
    struct NameRequest {
        fileprivate let number: Int
        fileprivate let ticket: NameLookups.Ticket
    }

    /// Resolves a host name. Calls `completion` on the loop after this function has returned, but not after
    /// `stopResolving` or the end of the loop.
    func resolve(_ host: String, _ completion: @escaping (Resolver.Answer) -> Void) -> NameRequest {
        assertOnLoop()
        lastNameWaiter += 1
        let number = lastNameWaiter
        nameWaiters[number] = completion
        let ticket = nameLookups.find(host) { [self] answer in
            post { self.nameWaiters.removeValue(forKey: number)?(answer) }
        }
        return NameRequest(number: number, ticket: ticket)
    }

    func stopResolving(_ request: NameRequest) {
        assertOnLoop()
        nameWaiters[request.number] = nil
        nameLookups.cancel(request.ticket)
    }

    public override func connect(
        to endpoint: Endpoint, options: ConnectOptions, handler: ByteStreamHandler
    ) -> ByteTransport {
        assertOnLoop()
        let transport = TCPTransport(loop: self, handler: handler)
        transport.connect(to: endpoint, options: options)
        return transport
    }

    public override func listen(
        on endpoint: Endpoint, backlog: Int = 4096, accept: @escaping (ByteTransport) -> Void
    ) throws(TransportError) -> ByteListener {
        assertOnLoop()
        let place = "a client of \(endpoint)"
        return try SocketListener(loop: self, .tcp(endpoint, backlog: backlog)) { [unowned self] descriptor in
            let transport = TCPTransport(loop: self, handler: nil)
            transport.adopt(descriptor, from: place)
            accept(transport)
        }
    }

    /// Accepts connections for a library with its own I/O. `accept` receives each connection as a non-blocking
    /// descriptor and owns the descriptor.
    ///
    /// - Throws: if the loop cannot listen at `endpoint`.
    public func listen(
        on endpoint: Endpoint, backlog: Int = 512, acceptDescriptor accept: @escaping (Int32) -> Void
    ) throws(TransportError) -> ByteListener {
        assertOnLoop()
        return try SocketListener(loop: self, .tcp(endpoint, backlog: backlog), accept: accept)
    }

    /// Accepts connections on a Unix socket at `path` that only this user may connect to. `accept` receives each
    /// descriptor and owns it.
    ///
    /// - Throws: if the socket cannot be bound, for example because the path is too long, or exists and is not an
    ///   unused socket.
    public func listen(
        onSocketAt path: String, backlog: Int = 512, acceptDescriptor accept: @escaping (Int32) -> Void
    ) throws(TransportError) -> ByteListener {
        assertOnLoop()
        return try SocketListener(loop: self, .unix(path, backlog: backlog), accept: accept)
    }
}
