import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import TLS

/// One provider's connection: gathers its requests, asks the rules, sends the answers, does what faults want.
final class SimulatorConnection: HTTP2ServerDelegate {
    /// Counts from 1, in the order in which connections are accepted.
    let number: Int
    let acceptedAt: MonotonicTime
    /// Where it comes from.
    let peerAddress: [UInt8]
    /// What is remembered of it by the rules.
    var memory: ConnectionMemory
    /// Its requests are answered with 500, all of them.
    var isStale = false
    /// How it ends, once this side has decided that it does.
    var end: ConnectionEnd?
    /// Nothing more is taken or sent, since the connection ends at once.
    var isOver = false
    let server: SimulatorServer
    private let since: Int64
    /// Requests that arrived whole.
    private(set) var requestsEnded = 0
    private var errorsSent = 0
    private var errorLimit = ErrorLimit()
    private(set) var session: HTTP2Server?
    var gate: ServerStreamGate
    /// The newest that the gate let through.
    private(set) var lastStreamID: Int32 = 0
    /// Until it has closed.
    private var transport: ByteTransport?
    /// Whether its client has a good certificate, or a request with a good provider token was answered.
    private var hasProvenItself = false
    private var isSweepSet = false
    /// Whether a fault may have kept the client from going on: then it is not held against it that it has not.
    var isExcused = false
    var changedSettings = FaultSettings()
    private var actionsOnceConnected: [FaultAction]
    var resumeTimer: TimerToken?
    /// When the last of its streams ended, or none yet began.
    private(set) var idleFrom: MonotonicTime
    /// How long there was no stream before that of the newest request.
    private(set) var idle = Duration.zero
    var slots: [RequestSlot] = []
    /// By slot, used again from stream to stream.
    private var requests: [Request] = []
    let timerTarget = TimerTarget<SimulatorConnection>()

    /// - Parameter actions: faults that strike it from the start.
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
        for case .settings(let change) in actions { take(change) }
        session = HTTP2Server(
            loop: server.loop, delegate: self, settings: settings,
            limits: HTTP2Limits(
                headerBytesMax: Request.headerBytesMax, connectionWindowBytes: 16_777_216,
                idleFramesMax: server.configuration.idleFramesMax))
        transport.handler = session
    }

    deinit { timerTarget.object = nil }

    /// The five that APNs was seen to send (Apple forum 54407, MongoosePush#45).
    var settings: HTTP2Settings {
        changedSettings.applied(
            to: HTTP2Settings(
                maxConcurrentStreams: UInt32(clamping: gate.announced), initialWindowBytes: 65_535,
                headerTableBytes: 4096, maxFrameBytes: 16_384,
                maxHeaderListBytes: UInt32(APNSLimits.headerListBytesMax)))
    }

    func take(_ change: FaultSettings) {
        changedSettings.add(change)
        if change.initialWindowBytes != .keep { isExcused = true }
        switch changedSettings.maxConcurrentStreams {
        case .keep: break
        // A client that is told no limit has none.
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

    /// Takes no more requests; ends when the streams that are open have.
    func shutDown() {
        end = end ?? .shutdown
        session?.goAway(.noError, debug: Array(#"{"reason":"Shutdown"}"#.utf8))
    }

    /// Ends at once, even if it is not open yet.
    func abort(as end: ConnectionEnd = .shutdown) { endNow(end) { _ in transport?.reset() } }

    func endNow(_ end: ConnectionEnd, _ how: (HTTP2Server) -> Void) {
        self.end = self.end ?? end
        isOver = true
        if let session { how(session) }
    }

    override func clientBegan() { server.opened(self) }

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
            // Who is known already gets more than one stream from the start.
            proveItself()
        case .badCertificateEnvironment:
            goAway(.noError, Answer.refused(.badCertificateEnvironment).bodyBytes, lastStreamID: 0)
        default: break
        }
    }

    override var wantsHeaderRepresentations: Bool { server.memory.keepsRepresentations }

    override func requestBegan(_ stream: HTTP2Stream, excess: StreamExcess) {
        let idle = gate.streams == 0 ? idleFrom.duration(to: server.now.monotonic) : .zero
        guard gate.opened(isTold: excess != .unacknowledged) else { return refuse(stream) }
        lastStreamID = stream.id
        guard server.takesRequests else {
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

    /// The stream in a slot has ended; the request may have been answered before.
    private func release(_ slot: Int) {
        server.requestClosed()
        guard slots[slot].isWaiting else { return }
        slots[slot].stage = .answered
        server.requestAbandoned(slots[slot].ticket, isForgotten: slots[slot].isForgotten)
        slots[slot].ticket = nil
    }

    private func proveItself() {
        if !hasProvenItself {
            hasProvenItself = true
            server.proven(self)
        }
        if gate.authenticated() { session?.update(settings) }
    }

    private func enter(_ stage: RequestSlot.Stage, _ stream: HTTP2Stream) {
        slots[stream.slot].stage = stage
        slots[stream.slot].since = server.loop.now.monotonic
    }

    /// Looks after the requests in a while.
    private func setSweep() {
        guard !isSweepSet else { return }
        isSweepSet = true
        server.loop.schedule(after: .seconds(server.configuration.requestSecondsMax)) { [timerTarget] in
            timerTarget.object?.isSweepSet = false
            timerTarget.object?.sweep()
        }
    }

    /// Ends what the client has left half done.
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

    /// Notes the number that a stream's request has in the log.
    func number(_ stream: HTTP2Stream, _ number: Int) {
        guard serves(stream) else { return }
        slots[stream.slot].number = number
    }

    /// The requests that wait for their answers are forgotten; the log gives their numbers to others.
    func forgetRequests() {
        for slot in slots.indices where slots[slot].stage != .arriving {
            (slots[slot].number, slots[slot].isForgotten) = (0, true)
        }
    }

    /// Notes what a stream's request waits for.
    func waits(_ stream: HTTP2Stream, for ticket: AnswerTicket) {
        guard serves(stream) else { return }
        slots[stream.slot].ticket = ticket
    }

    /// Brings about what becomes of a request; does nothing when its stream has ended meanwhile.
    func meet(_ fate: RequestFate, _ stream: HTTP2Stream) {
        guard let session, !isOver, serves(stream), slots[stream.slot].isWaiting else { return }
        switch fate {
        case .silence: break
        case .reset(let code): session.reset(stream, code)
        case .answer(let answer, let isAuthenticated, _):
            let arrived = slots[stream.slot].since
            enter(.answered, stream)
            slots[stream.slot].ticket = nil
            if answer.status >= 400 { errorsSent += 1 }
            session.respond(
                stream, status: answer.status,
                headers: server.headers(of: answer, to: requests[stream.slot], service: memory.service),
                body: requests[stream.slot].isHead ? [] : answer.bodyBytes)
            if isAuthenticated { proveItself() }
            server.answered(
                answer, to: slots[stream.slot].number, isForgotten: slots[stream.slot].isForgotten, of: memory.service,
                after: arrived.duration(to: slots[stream.slot].since))
            follow(
                answer.isSuccess
                    ? errorLimit.succeeded()
                    : errorLimit.refused(answer, at: server.now.monotonic, server.state.rules))
        }
    }
}
