import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import TLS

/// An APNs on one loop: both environments, as many listeners as it is told to open. Everything is called on the loop, and everything it knows may be looked at and
/// changed there.
///
///     let server = SimulatorServer(loop: loop, configuration: SimulatorConfiguration(), state: state)
///     let port = try server.listen(on: Endpoint(host: "127.0.0.1", port: 0), as: .sandboxPush).port
public final class SimulatorServer {
    public let loop: EventLoop
    public let configuration: SimulatorConfiguration
    /// What it knows of the world; may be changed at any time.
    public var state: SimulatorState {
        get { world }
        _modify { yield &world }
    }
    public var counters: Counters {
        var counters = counts
        counters.idsForgotten = memory.idsForgotten
        return counters
    }
    /// What it knew of the world when it was made.
    let documentAtStart: StateDocument
    /// What it remembers of the requests that it saw.
    public let memory: RequestMemory
    /// How far this APNs' clock is ahead of the loop's, or behind it when negative: makes provider tokens old, and waits
    /// of minutes over, at once.
    public var clockOffset = Duration.zero { didSet { watchIdle() } }
    /// The time as the rules see it.
    public var now: Now {
        let now = loop.now
        guard clockOffset != .zero else { return now }
        return Now(
            monotonic: now.monotonic + clockOffset,
            unixNanoseconds: now.unixNanoseconds &+ clockOffset.nanosecondsSaturated)
    }

    /// What goes wrong on purpose; may be changed at any time.
    public var faults: FaultRules {
        get { faultRules }
        _modify { yield &faultRules }
    }

    // Private storage: the compiler drops the checks of exclusive access to what only this module can reach.
    private var world: SimulatorState
    var counts = Counters()
    private var faultRules: FaultRules
    private let rules = SimulatorRules()
    let signatures = VerifiedSignatures()
    private var rates = RateLimit()
    private var connectionRates = ConnectionRateLimit()
    /// Of ``watchIdle()``.
    var idleTimer: TimerToken?
    /// Why connections failed.
    private(set) var failures = ConnectionFailures()
    /// Told of each connection that fails because its client breaks the rules of TLS or HTTP/2.
    public var onFailure: (ConnectionFailure) -> Void = { _ in }
    /// How clients reach it, as the process has said it: one JSON object.
    public var readyLine = "{}"
    private var listeners: [ByteListener] = []
    var connections: [Int: SimulatorConnection] = [:]
    private var lastConnection = 0
    var admission = Admission()
    private var onDrained: (() -> Void)?
    private var waiting = AnswerQueue<WaitingRequest>()
    /// When the timer of what waits fires; nil when none is set.
    private var timer: (due: MonotonicTime, token: TimerToken)?
    /// Cheaper than the system's, and the same sequence on a virtual loop with the same seed.
    private var random: SeededRandom
    private var headers = HeaderBlock()
    let timerTarget = TimerTarget<SimulatorServer>()

    /// - Parameters:
    ///   - faults: at most `FaultRules.faultsMax`; further ones are left out.
    ///   - clockOffset: how far the clock is ahead of the loop's.
    public init(
        loop: EventLoop, configuration: SimulatorConfiguration = SimulatorConfiguration(), state: SimulatorState,
        faults: [Fault] = [], clockOffset: Duration? = nil, record: RecordFile? = nil
    ) {
        self.loop = loop
        self.configuration = configuration
        world = state
        documentAtStart = StateDocument(state: state, faults: faults, clockOffset: clockOffset)
        self.clockOffset = clockOffset ?? .zero
        faultRules = FaultRules(seed: configuration.faultSeed, faults: faults)
        counts.sinceUnixMilliseconds = loop.now.unixMilliseconds
        memory = RequestMemory(loop: loop, configuration: configuration, record: record)
        random = SeededRandom(seed: loop.nextRandom())
        timerTarget.object = self
    }

    deinit { timerTarget.object = nil }

    /// Serves connections at an endpoint, port 0 being any free one.
    ///
    /// - Parameters:
    ///   - service: what is served there.
    ///   - tls: without it HTTP/2 is spoken with prior knowledge, as on a virtual loop.
    /// - Returns: where it listens.
    /// - Throws: when the address cannot be had.
    @discardableResult
    public func listen(
        on endpoint: Endpoint, as service: Service, tls: TLSContext? = nil
    ) throws(TransportError) -> Endpoint {
        let listener = try loop.listen(on: endpoint) { [unowned self] transport in
            guard let tls else { return accept(transport, as: service) }
            // When there is no memory for TLS, the connection was reset.
            let secured = try? TLSTransport.accept(transport, context: tls) { [unowned self] in admits(certificate: $0)
            }
            if let secured { accept(secured, as: service) }
        }
        listeners.append(listener)
        return listener.endpoint
    }

    /// Whether a client's certificate is not one of those that TLS refuses.
    private func admits(certificate der: [UInt8]) -> Bool {
        guard let contents = try? CertificateContents(der: der) else { return true }
        return !world.isRevokedCertificate(SHA256Value(digest: contents.sha256))
    }

    /// Serves a connection that was accepted elsewhere.
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

    /// - Parameter error: what it ended with, where that was not this side's doing.
    func closed(_ connection: SimulatorConnection, _ end: ConnectionEnd, _ error: TransportError?) {
        counts.count(end)
        if end == .tls || end == .protocolViolation, let error { noteFailure(of: connection, error) }
        connection.tell(&connectionRates, of: end)
        connections[connection.number] = nil
        admission.forget(connection.number)
        counts.connectionsOpen = connections.count
        if connections.isEmpty { tellDrained() }
    }

    /// The oldest first.
    public var openConnections: [ConnectionSummary] { connectionsInOrder.map(\.summary) }

    /// In the order in which they were accepted.
    var connectionsInOrder: [SimulatorConnection] {
        connections.keys.sorted().compactMap { connections[$0] }
    }

    /// Accepts no more connections and no more requests on those that are open; these end when their requests are
    /// answered.
    ///
    /// - Parameter done: called once no connection is open, maybe at once.
    public func shutDown(_ done: @escaping () -> Void = {}) {
        loop.assertOnLoop()
        closeListeners()
        onDrained = done
        for connection in connectionsInOrder { connection.shutDown() }
        if connections.isEmpty { tellDrained() }
    }

    private func tellDrained() {
        let done = onDrained
        onDrained = nil
        done?()
    }

    /// Ends at once: every connection is reset. What ``shutDown(_:)`` was to call is not.
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

    /// Why the record ends early; nil when it does not.
    public var recordFailure: String? { memory.recordFailure }

    /// Forgets what it has seen and counted; what is open and in flight stays so.
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

    private func noteFailure(of connection: SimulatorConnection, _ error: TransportError) {
        let failure = ConnectionFailure(
            number: connection.number, service: connection.memory.service, unixMilliseconds: now.unixMilliseconds,
            text: error.message)
        failures.add(failure)
        onFailure(failure)
    }

    func streamRefused() { counts.streamsRefused += 1 }

    /// A request's stream has ended before it was answered.
    ///
    /// - Parameters:
    ///   - ticket: what it waited for.
    ///   - isForgotten: it came before all was.
    func requestAbandoned(_ ticket: AnswerTicket?, isForgotten: Bool) {
        counts.inFlight -= 1
        if !isForgotten { counts.requestsAbandoned += 1 }
        if let ticket { waiting.cancel(ticket) }
    }

    /// An answer was sent.
    ///
    /// - Parameters:
    ///   - number: the request's in the log.
    ///   - isForgotten: the request came before all was.
    ///   - latency: since the request had arrived whole.
    func answered(
        _ answer: Answer, to number: Int, isForgotten: Bool, of service: Service, after latency: Duration
    ) {
        counts.inFlight -= 1
        if !isForgotten { counts.count(answer, of: service, after: latency) }
        memory.answered(number, atUnixMilliseconds: now.unixMilliseconds)
    }

    /// A request's stream was reset because it broke the rules of HTTP.
    func requestMalformed(_ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) {
        counts.requestsMalformed += 1
        guard memory.keepsHeaders else { return }
        var entry = logEntry(request, stream, on: connection)
        entry.isMalformed = true
        entry.hasMalformedHeader = request.hasMalformedHeader
        entry.hidesMalformedValue = request.hidesMalformedValue
        _ = memory.add(request, entry, reason: nil, faultID: nil)
    }

    /// Decides about a whole request. What it decides holds even if the stream ends before the answer is sent, as with
    /// the real service.
    func requestEnded(_ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection) {
        counts.countRequest(of: connection.memory.service, bodyBytes: request.bodyByteCount)
        let struck =
            faultRules.isEmpty
            ? FaultedRequest(fate: fate(of: request, on: connection)) : strike(request, stream, on: connection)
        connection.number(stream, remember(request, stream, on: connection, struck))
        if let action = struck.connectionAction { connection.perform(action) }
        carryOut(struck.fate, stream, on: connection, after: struck.latency ?? configuration.answerDelay)
    }

    /// What becomes of a request: what the rules make of it, unless its connection was idle for too long.
    func fate(of request: Request, on connection: SimulatorConnection) -> RequestFate {
        if connection.isStale || world.rules.looksAtIdleness, let answer = connection.answerOnceIdle(world.rules) {
            return .answer(answer, isAuthenticated: false)
        }
        return decide(about: request, on: connection)
    }

    /// What the rules make of a request.
    ///
    /// - Parameter changesState: whether the channels that it makes or deletes are made and deleted.
    func decide(
        about request: Request, on connection: SimulatorConnection, changesState: Bool = true
    ) -> RequestFate {
        let verifiedBefore = connection.memory.tokensVerified
        let unchanged = changesState ? nil : world
        let decision = rules.decision(
            about: request, on: &connection.memory, rates: &rates, state: &world, now: now, random: &random)
        if let unchanged { world = unchanged }
        counts.tokensVerified += connection.memory.tokensVerified - verifiedBefore
        return .answer(decision.answer, isAuthenticated: decision.isAuthenticated, detail: decision.detail)
    }

    private func carryOut(
        _ fate: RequestFate, _ stream: HTTP2Stream, on connection: SimulatorConnection, after delay: Duration
    ) {
        if case .silence = fate { return }
        // Where one stream is allowed, what was read together with it was open at the same time.
        guard delay > .zero || connection.gate.isNarrow else { return connection.meet(fate, stream) }
        let ticket = waiting.add(
            WaitingRequest(connection: connection, stream: stream, fate: fate), due: loop.now.monotonic + delay)
        connection.waits(stream, for: ticket)
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
        while let next = waiting.popDue(loop.now.monotonic) { next.connection.meet(next.fate, next.stream) }
        setTimer()
    }

    /// The answer's header fields; valid until the next answer. Ids enter the peer's table, as they do with APNs
    /// (MongoosePush#45).
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

    /// The request's own id as it was written, or one that is made.
    private func appendID(_ name: StaticString, sameAs id: UnsafeRawBufferPointer?) {
        if let id { return headers.append(name, id) }
        let made = makeID()
        headers.append(name, valueBytesMax: APNSRequestID.byteCount) { space in
            let count = made.write(to: space)
            // Ids that APNs makes are in upper case.
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

    /// A random UUID; nobody has to be unable to foretell it.
    private func makeID() -> UUIDValue {
        UUIDValue(
            high: random.next() & ~0xF000 | 0x4000, low: random.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
    }

    /// Keeps a request; its number in the log.
    private func remember(
        _ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection, _ struck: FaultedRequest
    ) -> Int {
        let id = request.loggedID
        let isDuplicate = struck.isProcessed && id.map { memory.isDuplicate($0) } ?? false
        if id == nil {
            counts.requestsWithoutID += 1
        } else if isDuplicate {
            counts.duplicateIDs += 1
        } else if struck.isProcessed {
            counts.distinctIDs += 1
        }
        guard isDuplicate || memory.keepsHeaders else { return 0 }
        let answer = struck.fate.answer
        var entry = logEntry(request, stream, on: connection)
        (entry.status, entry.isDuplicate) = (UInt16(clamping: answer?.status ?? 0), isDuplicate)
        entry.detail = struck.fate.detail
        return memory.add(request, entry, reason: answer?.reason, faultID: struck.faultID)
    }

    private func logEntry(
        _ request: Request, _ stream: HTTP2Stream, on connection: SimulatorConnection
    ) -> RequestLog.Entry {
        RequestLog.Entry(
            unixMilliseconds: now.unixMilliseconds, connection: connection.number,
            payloadByteCount: request.bodyByteCount, id: request.loggedID, service: connection.memory.service,
            stream: stream.id, status: 0, hasCertificate: connection.memory.presented != nil)
    }
}
