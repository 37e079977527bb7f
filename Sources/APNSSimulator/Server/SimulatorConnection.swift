import APNSProtocol
import Crypto
import EventLoop
import HTTP2
import TLS

/// One provider's connection: gathers its requests, asks the rules, sends the answers, does what faults want.
final class SimulatorConnection: HTTP2ServerDelegate {
    /// What becomes of a stream, in a slot that is used again.
    private struct Slot {
        /// nil when the slot serves no request: it is free, or its stream was refused.
        var stream: HTTP2Stream?
        var stage = Stage.arriving
        /// When it came to this stage.
        var since = MonotonicTime(nanoseconds: 0)
        /// How long the connection had no stream before.
        var idle = Duration.zero
        /// Of its request in the log.
        var number = 0
        /// Whether its request came before everything was forgotten.
        var isForgotten = false
        /// What it waits for, when that is its time.
        var ticket: AnswerTicket?

        var isWaiting: Bool { stage == .waiting }
    }

    private enum Stage {
        /// The request is on its way.
        case arriving
        /// For its answer.
        case waiting
        /// The answer is on its way.
        case answered
    }

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
    private var isOver = false
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
    private var isExcused = false
    private var changedSettings = FaultSettings()
    private var actionsOnceConnected: [FaultAction]
    private var resumeTimer: TimerToken?
    /// When the last of its streams ended, or none yet began.
    private(set) var idleFrom: MonotonicTime
    /// How long there was no stream before that of the newest request.
    private(set) var idle = Duration.zero
    private var slots: [Slot] = []
    /// By slot, used again from stream to stream.
    private var requests: [Request] = []
    private let timerTarget = TimerTarget<SimulatorConnection>()

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

    private func take(_ change: FaultSettings) {
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
            slots.append(Slot())
            requests.append(Request())
        }
        slots[stream.slot] = Slot(stream: stream, since: server.loop.now.monotonic, idle: idle)
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
        slots[stream.slot] = Slot()
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

    private func enter(_ stage: Stage, _ stream: HTTP2Stream) {
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

extension SimulatorConnection {
    /// Does at once what a fault wants of the connection.
    func perform(_ action: FaultAction) {
        guard let session, !isOver else { return }
        switch action {
        case .latency, .silence, .answer: break
        case .resetStream(let code):
            for stream in openStreams { session.reset(stream, code) }
        case .goAway(let goAway): perform(goAway, session)
        case .resetConnection: endNow(.fault) { $0.abort() }
        case .closeConnection: endNow(.fault) { $0.close() }
        case .stopReading(let milliseconds): stopReading(session, milliseconds)
        case .resumeReading: resumeReading(session)
        case .settings(let change):
            take(change)
            session.update(settings)
        case .staleConnection: isStale = true
        }
    }

    private func perform(_ goAway: FaultGoAway, _ session: HTTP2Server) {
        end = end ?? .goAway
        let keeps = goAway.ending == .keep
        session.goAway(goAway.code, lastStreamID: lastStreamID(goAway.lastStream), debug: goAway.debug, lingers: keeps)
        if let second = goAway.second {
            session.goAway(goAway.code, lastStreamID: lastStreamID(second), lingers: keeps)
        }
        if goAway.ending == .close { endNow(.goAway) { $0.close() } }
    }

    /// The last stream that goes on after a GOAWAY; nil for all that were seen.
    func lastStreamID(_ goAway: FaultGoAway) -> Int32? {
        guard let second = goAway.second else { return lastStreamID(goAway.lastStream) }
        return min(lastStreamID(goAway.lastStream) ?? .max, lastStreamID(second) ?? .max)
    }

    /// What a GOAWAY has to say; nil for the last stream that was seen.
    private func lastStreamID(_ last: FaultGoAway.LastStream) -> Int32? {
        switch last {
        case .lastSeen: return nil
        case .id(let id): return id
        case .first(let count):
            let open = openStreams
            guard count > 0 else { return open.first.map { max(0, $0.id - 2) } }
            return count <= open.count ? open[count - 1].id : nil
        }
    }

    /// The streams whose requests are not answered, the oldest first.
    private var openStreams: [HTTP2Stream] {
        slots.compactMap { $0.stage == .answered ? nil : $0.stream }.sorted { $0.id < $1.id }
    }

    private func stopReading(_ session: HTTP2Server, _ milliseconds: Int?) {
        if let resumeTimer { server.loop.cancel(resumeTimer) }
        isExcused = true
        session.pauseReading()
        resumeTimer = milliseconds.map { milliseconds in
            server.loop.schedule(after: .milliseconds(milliseconds)) { [timerTarget] in
                guard let connection = timerTarget.object, let session = connection.session else { return }
                connection.resumeReading(session)
            }
        }
    }

    private func resumeReading(_ session: HTTP2Server) {
        if let resumeTimer { server.loop.cancel(resumeTimer) }
        resumeTimer = nil
        session.resumeReading()
    }
}

extension ConnectionEnd {
    /// How a connection ended that this side did not end.
    fileprivate init(_ error: TransportError?) {
        switch error?.code {
        case nil: self = .client
        case .tls, .notTLS, .certificate, .certificateRefused: self = .tls
        case .protocolViolation: self = .protocolViolation
        case .resolve, .refused, .unreachable, .timedOut, .reset, .proxy, .addressUnavailable, .resources: self = .lost
        }
    }
}
