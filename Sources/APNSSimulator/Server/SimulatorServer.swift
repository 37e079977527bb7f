import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import TLS

/// A simulated APNs on one event loop, with any number of listeners for both environments.
///
/// Use the server and its properties on the loop only.
///
///     let server = SimulatorServer(loop: loop, configuration: SimulatorConfiguration(), state: state)
///     let port = try server.listen(on: Endpoint(host: "127.0.0.1", port: 0), as: .sandboxPush).port
public final class SimulatorServer {
    public let loop: EventLoop
    public let configuration: SimulatorConfiguration
    /// The state, which can be changed at any time.
    public var state: SimulatorState {
        get { storedState }
        _modify { yield &storedState }
    }
    public var counters: Counters {
        var counters = counts
        counters.idsForgotten = memory.idsForgotten
        return counters
    }
    /// The state, faults and clock offset at the start, for ``reset(keepsState:)``.
    let documentAtStart: StateDocument
    /// The memory of received requests.
    public let memory: RequestMemory
    /// The offset by which the simulator's clock is ahead of the loop's clock, or behind if negative. With an offset,
    /// a test need not wait until provider tokens expire.
    public var clockOffset = Duration.zero { didSet { watchIdle() } }
    /// The time of the simulator's clock, which the rules use.
    public var now: Now {
        let now = loop.now
        guard clockOffset != .zero else { return now }
        return Now(
            monotonic: now.monotonic + clockOffset,
            unixNanoseconds: now.unixNanoseconds &+ clockOffset.nanosecondsSaturated)
    }

    /// The faults in force, which can be changed at any time.
    public var faults: FaultRules {
        get { faultRules }
        _modify { yield &faultRules }
    }

    // The storage is private, because the compiler omits the exclusivity checks of properties that only this module can
    // access.
    private var storedState: SimulatorState
    var counts = Counters()
    private var faultRules: FaultRules
    private let rules = SimulatorRules()
    let signatures = VerifiedSignatures()
    private var rates = RateLimit()
    private var connectionRates = ConnectionRateLimit()
    /// The timer of ``watchIdle()``.
    var idleTimer: TimerToken?
    /// The newest failures of connections.
    private(set) var failures = ConnectionFailures()
    /// A closure that receives each connection that fails because its client violates TLS or HTTP/2.
    public var onFailure: (ConnectionFailure) -> Void = { _ in }
    /// The ready line of the process: one JSON object with the addresses for clients.
    public var readyLine = "{}"
    private var listeners: [ByteListener] = []
    var connections: [Int: SimulatorConnection] = [:]
    private var lastConnection = 0
    var admission = Admission()
    private var onDrained: (() -> Void)?
    private var waiting = AnswerQueue<WaitingRequest>()
    /// The timer of delayed answers and its due time; nil if none is set.
    private var timer: (due: MonotonicTime, token: TimerToken)?
    /// A source of random numbers that is faster than the system's source, and reproducible on a virtual loop with the
    /// same seed.
    private var random: SeededRandom
    private var headers = HeaderBlock()
    let timerTarget = TimerTarget<SimulatorServer>()

    /// Creates a server without listeners.
    ///
    /// - Parameters:
    ///   - faults: at most `FaultRules.faultsMax` faults. The initializer ignores further faults.
    ///   - clockOffset: the offset by which the clock is ahead of the loop's clock; nil for 0.
    public init(
        loop: EventLoop, configuration: SimulatorConfiguration = SimulatorConfiguration(), state: SimulatorState,
        faults: [Fault] = [], clockOffset: Duration? = nil, record: RecordFile? = nil
    ) {
        self.loop = loop
        self.configuration = configuration
        storedState = state
        documentAtStart = StateDocument(state: state, faults: faults, clockOffset: clockOffset)
        self.clockOffset = clockOffset ?? .zero
        faultRules = FaultRules(seed: configuration.faultSeed, faults: faults)
        counts.sinceUnixMilliseconds = loop.now.unixMilliseconds
        memory = RequestMemory(loop: loop, configuration: configuration, record: record)
        random = SeededRandom(seed: loop.nextRandom())
        timerTarget.object = self
    }

    deinit { timerTarget.object = nil }

    /// Listens at an endpoint and serves its connections. Port 0 selects a free port.
    ///
    /// - Parameters:
    ///   - service: the service at this endpoint.
    ///   - tls: the TLS context; nil for HTTP/2 without TLS (prior knowledge), as on a virtual loop.
    /// - Returns: the endpoint with the actual port.
    /// - Throws: `TransportError` if the address is not available.
    @discardableResult
    public func listen(
        on endpoint: Endpoint, as service: Service, tls: TLSContext? = nil
    ) throws(TransportError) -> Endpoint {
        let listener = try loop.listen(on: endpoint) { [unowned self] transport in
            guard let tls else { return accept(transport, as: service) }
            // If `TLSTransport.accept` lacks memory, it has already reset the connection.
            let secured = try? TLSTransport.accept(transport, context: tls) { [unowned self] in admits(certificate: $0)
            }
            if let secured { accept(secured, as: service) }
        }
        listeners.append(listener)
        return listener.endpoint
    }

    /// Returns whether TLS accepts a client's certificate. TLS accepts every certificate that is not revoked.
    private func admits(certificate der: [UInt8]) -> Bool {
        guard let contents = try? CertificateContents(der: der) else { return true }
        return !storedState.isRevokedCertificate(SHA256Value(digest: contents.sha256))
    }

    /// Serves an accepted connection, or resets it if a limit is reached.
    public func accept(_ transport: ByteTransport, as service: Service) {
        loop.assertOnLoop()
        guard connectionRates.admits(transport.peerAddress, at: now.monotonic), makeRoom() else {
            counts.count(.refused)
            return transport.reset()
        }
        counts.connections += 1
        lastConnection += 1
        let connection = SimulatorConnection(
            number: lastConnection, server: self, service: service, transport: transport,
            actions: actions(onConnection: lastConnection, of: service))
        connections[connection.number] = connection
        admit(connection)
        counts.connectionsOpen = connections.count
        counts.connectionsOpenMax = max(counts.connectionsOpenMax, connections.count)
        if idleTimer == nil { watchIdle() }
    }

    /// Handles the end of a connection.
    ///
    /// - Parameter error: the error that ended the connection; nil after an orderly close by the simulator or the
    ///   client.
    func closed(_ connection: SimulatorConnection, _ end: ConnectionEnd, _ error: TransportError?) {
        counts.count(end)
        if end == .tls || end == .protocolViolation, let error { addFailure(of: connection, error) }
        connection.count(end, in: &connectionRates)
        connections[connection.number] = nil
        admission.remove(connection.number)
        counts.connectionsOpen = connections.count
        if connections.isEmpty { notifyDrained() }
    }

    /// Summaries of the open connections, the oldest first.
    public var openConnections: [ConnectionSummary] { connectionsInOrder.map(\.summary) }

    /// The open connections, the oldest first.
    var connectionsInOrder: [SimulatorConnection] {
        connections.keys.sorted().compactMap { connections[$0] }
    }

    /// Accepts no more connections and requests. Open connections close after their requests are answered.
    ///
    /// - Parameter done: called when no connection is open, possibly before this method returns.
    public func shutDown(_ done: @escaping () -> Void = {}) {
        loop.assertOnLoop()
        closeListeners()
        onDrained = done
        for connection in connectionsInOrder { connection.shutDown() }
        if connections.isEmpty { notifyDrained() }
    }

    private func notifyDrained() {
        let done = onDrained
        onDrained = nil
        done?()
    }

    /// Closes the listeners and the record, and resets all connections immediately. A pending handler of
    /// ``shutDown(_:)`` is not called.
    public func abort() {
        loop.assertOnLoop()
        onDrained = nil
        closeListeners()
        for connection in connectionsInOrder { connection.abort() }
        memory.closeRecord()
    }

    private func closeListeners() {
        for listener in listeners { listener.close() }
        listeners = []
    }

    /// The error that ended the record; nil if no write failed.
    public var recordFailure: String? { memory.recordFailure }

    /// Resets counters, request memory, connection failures, fault counts and rate limits. Open connections and
    /// requests in flight continue.
    public func resetMemory() {
        loop.assertOnLoop()
        counts.restart(atUnixMilliseconds: loop.now.unixMilliseconds)
        memory.removeAll()
        for connection in connections.values { connection.forgetRequests() }
        failures = ConnectionFailures()
        faultRules.restart()
        rates = RateLimit()
        connectionRates = ConnectionRateLimit()
    }

    private func addFailure(of connection: SimulatorConnection, _ error: TransportError) {
        let failure = ConnectionFailure(
            number: connection.number, service: connection.memory.service, unixMilliseconds: now.unixMilliseconds,
            text: error.message)
        failures.add(failure)
        onFailure(failure)
    }

    func streamRefused() { counts.streamsRefused += 1 }

    /// Records that a request's stream has ended before the answer, and cancels a delayed answer.
    ///
    /// - Parameters:
    ///   - ticket: the ticket of the request's delayed answer; nil if the answer was not delayed.
    ///   - isForgotten: whether the memory was reset after the request.
    func requestAbandoned(_ ticket: AnswerTicket?, isForgotten: Bool) {
        counts.inFlight -= 1
        if !isForgotten { counts.requestsAbandoned += 1 }
        if let ticket { waiting.cancel(ticket) }
    }

    /// Records that an answer was sent.
    ///
    /// - Parameters:
    ///   - number: the request's number in the log.
    ///   - isForgotten: whether the memory was reset after the request.
    ///   - latency: time since the request was complete.
    func answered(
        _ answer: Answer, to number: Int, isForgotten: Bool, of service: Service, after latency: Duration
    ) {
        counts.inFlight -= 1
        if !isForgotten { counts.count(answer, of: service, after: latency) }
        memory.answered(number, atUnixMilliseconds: now.unixMilliseconds)
    }

    /// Records that a request's stream was reset because the request violated HTTP.
    func requestMalformed(_ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) {
        counts.requestsMalformed += 1
        guard memory.keepsHeaders else { return }
        var entry = logEntry(request, stream, on: connection)
        entry.isMalformed = true
        entry.hasMalformedHeader = request.hasMalformedHeader
        entry.hidesMalformedValue = request.hidesMalformedValue
        _ = memory.add(request, entry, reason: nil, faultID: nil)
    }

    /// Decides about a complete request, logs it, and sends or schedules the response. As with APNs, the decision's
    /// effects remain if the stream ends before the answer.
    func requestEnded(_ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) {
        counts.countRequest(of: connection.memory.service, bodyBytes: request.bodyByteCount)
        let struck =
            faultRules.isEmpty
            ? FaultedRequest(response: response(to: request, on: connection))
            : applyFaults(to: request, stream, on: connection)
        connection.setNumber(remember(request, stream, on: connection, struck), of: stream)
        if let action = struck.connectionAction { connection.perform(action) }
        carryOut(struck.response, stream, on: connection, after: struck.latency ?? configuration.answerDelay)
    }

    /// Returns the response to a request. If the connection is stale or was idle for too long, the response does not
    /// come from the rules.
    func response(to request: Request, on connection: SimulatorConnection) -> PlannedResponse {
        if connection.isStale || storedState.rules.needsIdleTime, let answer = connection.idleAnswer(storedState.rules)
        {
            return .answer(answer, isAuthenticated: false)
        }
        return decide(about: request, on: connection)
    }

    /// Returns the response of the rules to a request.
    ///
    /// - Parameter changesState: whether the request may create and delete channels.
    func decide(
        about request: Request, on connection: SimulatorConnection, changesState: Bool = true
    ) -> PlannedResponse {
        let verifiedBefore = connection.memory.tokensVerified
        let unchanged = changesState ? nil : storedState
        let decision = rules.decision(
            about: request, on: &connection.memory, rates: &rates, state: &storedState, now: now, random: &random)
        if let unchanged { storedState = unchanged }
        counts.tokensVerified += connection.memory.tokensVerified - verifiedBefore
        return .answer(decision.answer, isAuthenticated: decision.isAuthenticated, detail: decision.detail)
    }

    private func carryOut(
        _ response: PlannedResponse, _ stream: HTTP2Stream, on connection: SimulatorConnection, after delay: Duration
    ) {
        if case .silence = response { return }
        // With a limit of one stream, requests that arrived in the same read count as concurrent.
        guard delay > .zero || connection.gate.isNarrow else { return connection.send(response, stream) }
        let ticket = waiting.add(
            WaitingRequest(connection: connection, stream: stream, response: response), due: loop.now.monotonic + delay)
        connection.setTicket(ticket, of: stream)
        setTimer()
    }

    private func setTimer() {
        guard let due = waiting.nextDue else { return }
        if let timer {
            guard due < timer.due else { return }
            loop.cancel(timer.token)
        }
        let token = loop.schedule(at: due) { [timerTarget] in timerTarget.object?.answerDue() }
        timer = (due, token)
    }

    private func answerDue() {
        timer = nil
        while let next = waiting.popDue(loop.now.monotonic) { next.connection.send(next.response, next.stream) }
        setTimer()
    }

    /// Returns the header fields of an answer. As with APNs, IDs enter the peer's HPACK table (MongoosePush#45).
    func headers(of answer: Answer, to request: Request, service: Service) -> HeaderBlock {
        headers.removeAll()
        if service.kind == .channelManagement || request.isBroadcast {
            let id = request[.apnsRequestID] ?? request[.apnsID]
            appendID(HeaderName.apnsRequestID, sameAs: id.flatMap { APNSRequestID.isWellFormed($0) ? $0 : nil })
            if service.kind == .push, answer.isSuccess { appendUniqueID() }
        } else {
            appendID(HeaderName.apnsID, sameAs: request.id == nil ? nil : request[.apnsID])
            if service.environment == .sandbox { appendUniqueID() }
        }
        switch answer.body {
        case .none: break
        case .reason, .json: headers.append(HeaderName.contentType, "application/json")
        case .raw(let contentType, _): headers.append(HeaderName.contentType, Array(contentType.utf8))
        }
        if let id = answer.channelID { headers.append(HeaderName.apnsChannelID, Array(id.utf8)) }
        if let seconds = answer.retryAfterSeconds { headers.append(HeaderName.retryAfter, Int64(seconds)) }
        return headers
    }

    /// Appends the request's ID as sent, or a new ID.
    private func appendID(_ name: StaticString, sameAs id: UnsafeRawBufferPointer?) {
        if let id { return headers.append(name, id) }
        let made = makeID()
        headers.append(name, valueBytesMax: APNSRequestID.byteCount) { space in
            let count = made.write(to: space)
            // APNs creates IDs in upper case.
            for index in 0..<count where UInt8(ascii: "a")...UInt8(ascii: "f") ~= space[index] {
                space[index] &= ~0x20
            }
            return count
        }
    }

    private func appendUniqueID() {
        let id = makeID()
        headers.append(HeaderName.apnsUniqueID, valueBytesMax: APNSRequestID.byteCount) { id.write(to: $0) }
    }

    /// Returns a random UUID, which may be predictable.
    private func makeID() -> UUIDValue {
        UUIDValue(
            high: random.next() & ~0xF000 | 0x4000, low: random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }
}
