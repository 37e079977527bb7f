import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import TLS

/// A provider's connection, which collects requests, sends the answers of the rules, and applies faults.
final class SimulatorConnection: HTTP2ServerDelegate {
    /// Number of the connection, from 1, in the order in which connections are accepted.
    let number: Int
    let acceptedAt: MonotonicTime
    let peerAddress: [UInt8]
    /// The data that the rules keep for the connection.
    var memory: ConnectionMemory
    /// Whether all requests are answered with 500, unless a fault replaces the answer.
    var isStale = false
    /// The cause of the end; nil until the simulator closes the connection or sends GOAWAY.
    var end: ConnectionEnd?
    /// Whether the connection is closing immediately, without further requests and answers.
    var isOver = false
    let server: SimulatorServer
    private let since: Int64
    /// Number of complete requests.
    private(set) var requestsEnded = 0
    private var errorsSent = 0
    private var errorLimit = ErrorLimit()
    private(set) var session: HTTP2Server?
    var gate: ServerStreamGate
    /// The newest stream that the gate accepted.
    private(set) var lastStreamID: Int32 = 0
    /// The transport; nil after the connection has closed.
    private var transport: ByteTransport?
    /// Whether the client has a valid certificate, or a request that passed authentication was answered.
    private var isAuthenticated = false
    private var isSweepSet = false
    /// Whether a fault may have stopped the client from sending or receiving. Request timeouts then do not apply.
    var isExcused = false
    var changedSettings = FaultSettings()
    private var actionsOnceConnected: [FaultAction]
    var resumeTimer: TimerToken?
    /// The time at which the last open stream ended. Before the first stream, the time at which the connection was
    /// accepted.
    private(set) var idleFrom: MonotonicTime
    /// Time without streams before the stream of the newest complete request.
    private(set) var idle = Duration.zero
    var slots: [RequestSlot] = []
    /// Requests by slot, reused for later streams.
    private var requests: [Request] = []
    let timerTarget = TimerTarget<SimulatorConnection>()

    /// Creates a connection that serves HTTP/2 on `transport`.
    ///
    /// - Parameter actions: actions of faults that apply to the connection from the start.
    init(
        number: Int, server: SimulatorServer, service: Service, transport: ByteTransport, actions: [FaultAction] = []
    ) {
        self.number = number
        self.server = server
        self.transport = transport
        peerAddress = transport.peerAddress
        acceptedAt = server.loop.now.monotonic
        since = server.now.unixMilliseconds
        memory = ConnectionMemory(service: service, signatures: server.signatures)
        gate = ServerStreamGate(mode: server.state.rules.gate, streamsMax: server.state.rules.streamsMax)
        actionsOnceConnected = actions
        idleFrom = server.now.monotonic
        super.init()
        timerTarget.object = self
        for case .settings(let change) in actions { apply(change) }
        session = HTTP2Server(
            loop: server.loop, delegate: self, settings: settings,
            limits: HTTP2Limits(
                headerBytesMax: Request.headerBytesMax, connectionWindowBytes: 16_777_216,
                idleFramesMax: server.configuration.idleFramesMax))
        transport.handler = session
    }

    deinit { timerTarget.object = nil }

    /// The five settings that APNs was observed to send (Apple forum 54407, MongoosePush#45), with the changes of
    /// faults.
    var settings: HTTP2Settings {
        changedSettings.applied(
            to: HTTP2Settings(
                maxConcurrentStreams: UInt32(clamping: gate.announced), initialWindowBytes: 65_535,
                headerTableBytes: 4096, maxFrameBytes: 16_384,
                maxHeaderListBytes: UInt32(APNSLimits.headerListBytesMax)))
    }

    func apply(_ change: FaultSettings) {
        changedSettings.add(change)
        if change.initialWindowBytes != .keep { isExcused = true }
        switch changedSettings.maxConcurrentStreams {
        case .keep: break
        // If the first SETTINGS frame lacks the setting, the client has no limit.
        case .omit: gate.limit = .max
        case .value(let limit): gate.limit = Int(limit)
        }
    }

    var summary: ConnectionSummary {
        ConnectionSummary(
            number: number, service: memory.service, sinceUnixMilliseconds: since, teamID: memory.boundKey?.teamID,
            keyID: memory.boundKey?.id, streamsOpen: gate.streams, streamsMax: gate.announced, requests: requestsEnded,
            errors: errorsSent)
    }

    /// Accepts no more requests, and closes the connection after the open streams have ended.
    func shutDown() {
        end = end ?? .shutdown
        session?.goAway(.noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
    }

    /// Resets the connection immediately, even before the handshakes are complete.
    func abort(as end: ConnectionEnd = .shutdown) { endNow(end) { _ in transport?.reset() } }

    func endNow(_ end: ConnectionEnd, _ close: (HTTP2Server) -> Void) {
        self.end = self.end ?? end
        isOver = true
        if let session { close(session) }
    }

    override func prefaceReceived() { server.opened(self) }

    override func connected() {
        presentCertificate()
        for action in actionsOnceConnected {
            if case .settings = action { continue }
            perform(action)
        }
        actionsOnceConnected = []
    }

    private func presentCertificate() {
        let certificate = (transport as? TLSTransport)?.peerCertificate
        guard let certificate, let contents = try? CertificateContents(der: certificate) else { return }
        memory.present(PushCertificate(contents))
        switch memory.certificateFault(state: server.state, now: server.now)?.reason {
        case nil:
            // A client with a valid certificate has the full stream limit from the start.
            becomeAuthenticated()
        case .badCertificateEnvironment:
            goAway(.noError, Answer.refused(.badCertificateEnvironment).bodyBytes, lastStreamID: 0)
        default: break
        }
    }

    override var wantsHeaderRepresentations: Bool { server.memory.keepsRepresentations }

    override func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {
        let idle = gate.streams == 0 ? idleFrom.duration(to: server.now.monotonic) : .zero
        guard gate.opened(isAcknowledged: excess != .unacknowledged) else { return refuse(stream) }
        lastStreamID = stream.id
        guard server.acceptsRequests else {
            server.streamRefused()
            session?.reset(stream, .refusedStream)
            return
        }
        guard !isOver else { return }
        server.requestOpened()
        while slots.count <= stream.slot {
            slots.append(RequestSlot())
            requests.append(Request())
        }
        slots[stream.slot] = RequestSlot(stream: stream, since: server.loop.now.monotonic, idle: idle)
        setSweep()
        requests[stream.slot].reset(keepsAll: server.memory.keepsHeaders)
    }

    override func requestHeader(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
        representation: HeaderRepresentation
    ) {
        guard serves(stream) else { return }
        requests[stream.slot].addHeader(name: name, value: value, representation: representation)
    }

    override func requestHeaderMalformed(
        _ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?
    ) {
        guard serves(stream) else { return }
        requests[stream.slot].addMalformedHeader(name: name, value: value)
    }

    override func requestMalformed(_ stream: HTTP2Stream) {
        guard serves(stream), slots[stream.slot].stage == .arriving else { return }
        server.requestMalformed(requests[stream.slot], stream, on: self)
    }

    override func requestBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        guard serves(stream) else { return }
        requests[stream.slot].addBody(bytes)
    }

    override func requestEnded(_ stream: HTTP2Stream) {
        guard serves(stream), !isOver, slots[stream.slot].stage == .arriving else { return }
        enter(.waiting, stream)
        requestsEnded += 1
        idle = slots[stream.slot].idle
        server.requestEnded(requests[stream.slot], stream, on: self)
    }

    override func streamClosed(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        gate.closed()
        if gate.streams == 0 { idleFrom = server.now.monotonic }
        guard serves(stream) else { return }
        release(stream.slot)
        slots[stream.slot] = RequestSlot()
    }

    override func closed(_ error: TransportError?) {
        for slot in slots.indices where slots[slot].stream != nil { release(slot) }
        slots = []
        requests = []
        session = nil
        transport = nil
        if let resumeTimer { server.loop.cancel(resumeTimer) }
        server.closed(self, end ?? ConnectionEnd(error), error)
    }

    /// Handles the end of a slot's stream, before or after the answer.
    private func release(_ slot: Int) {
        server.requestClosed()
        guard slots[slot].isWaiting else { return }
        slots[slot].stage = .answered
        server.requestAbandoned(slots[slot].ticket, isForgotten: slots[slot].isForgotten)
        slots[slot].ticket = nil
    }

    private func becomeAuthenticated() {
        if !isAuthenticated {
            isAuthenticated = true
            server.authenticated(self)
        }
        if gate.authenticated() { session?.update(settings) }
    }

    private func enter(_ stage: RequestSlot.Stage, _ stream: HTTP2Stream) {
        slots[stream.slot].stage = stage
        slots[stream.slot].since = server.loop.now.monotonic
    }

    /// Schedules a sweep, unless one is scheduled.
    private func setSweep() {
        guard !isSweepSet else { return }
        isSweepSet = true
        server.loop.schedule(after: .seconds(server.configuration.requestSecondsMax)) { [timerTarget] in
            timerTarget.object?.isSweepSet = false
            timerTarget.object?.sweep()
        }
    }

    /// Resets streams whose client exceeds the timeout.
    private func sweep() {
        let last = server.loop.now.monotonic - .seconds(server.configuration.requestSecondsMax)
        for slot in slots {
            guard let stream = slot.stream else { continue }
            setSweep()
            if !slot.isWaiting, !isExcused, slot.since <= last { session?.reset(stream, .cancel) }
        }
    }

    private func serves(_ stream: HTTP2Stream) -> Bool {
        stream.slot < slots.count && slots[stream.slot].stream == stream
    }

    /// Sets the log number of a stream's request.
    func setNumber(_ number: Int, of stream: HTTP2Stream) {
        guard serves(stream) else { return }
        slots[stream.slot].number = number
    }

    /// Marks the complete requests as forgotten and removes their log numbers, because the log restarts its numbers.
    func forgetRequests() {
        for slot in slots.indices where slots[slot].stage != .arriving {
            (slots[slot].number, slots[slot].isForgotten) = (0, true)
        }
    }

    func setTicket(_ ticket: AnswerTicket, of stream: HTTP2Stream) {
        guard serves(stream) else { return }
        slots[stream.slot].ticket = ticket
    }

    /// Sends the response to a request. Does nothing if the stream has ended or ``isOver`` is set.
    func send(_ response: PlannedResponse, _ stream: HTTP2Stream) {
        guard let session, !isOver, serves(stream), slots[stream.slot].isWaiting else { return }
        switch response {
        case .silence: break
        case .reset(let code): session.reset(stream, code)
        case .answer(let answer, let authenticates, _):
            let arrived = slots[stream.slot].since
            enter(.answered, stream)
            slots[stream.slot].ticket = nil
            if answer.status >= 400 { errorsSent += 1 }
            session.respond(
                stream, status: answer.status,
                headers: server.headers(of: answer, to: requests[stream.slot], service: memory.service),
                body: requests[stream.slot].isHead ? [] : answer.bodyBytes)
            if authenticates { becomeAuthenticated() }
            server.answered(
                answer, to: slots[stream.slot].number, isForgotten: slots[stream.slot].isForgotten, of: memory.service,
                after: arrived.duration(to: slots[stream.slot].since))
            enforce(
                answer.isSuccess
                    ? errorLimit.succeeded()
                    : errorLimit.refused(answer, at: server.now.monotonic, server.state.rules))
        }
    }
}
