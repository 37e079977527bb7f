import APNSProtocol
import EventLoop
import HTTP2
import Telemetry

/// One connection to APNs, from its opening to its end: sends pushes, reads their answers, and notices when the peer has
/// gone silent. The pool hears what becomes of a push.
final class APNSConnection: HTTP2ClientDelegate {
    /// A push that was sent; kept by the slot of its stream.
    private struct OpenStream {
        var stream: HTTP2Stream
        /// nil once its outcome is known; the stream may live on for a moment.
        var push: Push?
        var tokenGeneration: Int
        var sentAt: MonotonicTime
        /// 0 before the answer.
        var status = 0
        /// Whether `apns-id` came, with which APNs answers.
        var hasID = false
        /// nil where none came: of a push to a device that production accepted.
        var details: Details?
    }

    /// What an answer says beside its status.
    private final class Details {
        var body: [UInt8] = []
        var uniqueID: String?
        var requestID: String?
        var retryAfterSeconds: Int64?
        var channelID: String?
    }

    /// Bytes of `apns-unique-id` and `apns-request-id` that are kept: a UUID is shorter.
    private static let idBytesMax = 64
    /// Apple: "don't assume an ID's size".
    private static let channelIDBytesMax = 1024

    /// Counted from 1 within the pool.
    let number: Int
    /// Where the pool keeps it, and what it decides by.
    let slot: Int
    private let loop: EventLoop
    /// Answers that are 5xx or not of APNs since the last other one.
    private var serverErrors = 0
    private let configuration: PoolConfiguration
    /// What nearly every push ends with, made once.
    private let accepted: PushOutcome
    private var pool: APNSPool?
    private var client: HTTP2Client!
    private var headers: RequestHeaders
    private var tokenUse: TokenUse
    private var token: ProviderToken?
    private var openStreams: [OpenStream?] = []
    private var deadlines = DeadlineList()
    private var lastActivity: MonotonicTime
    /// Whether it drains by our own will.
    private var isLeaving = false
    private var goAwayReason: String?
    /// What APNs has against the certificate that this connection showed.
    private(set) var certificateRefusal: CertificateRefusal?
    /// Why the connection was given up here.
    private var failure: TransportError?
    // Each is nil while it is not running.
    private let requestTimer: DeadlineTimer
    private var phaseTimer: TimerToken?
    private var idleTimer: TimerToken?
    private var pingTimer: TimerToken?

    /// - Parameter pool: kept until the connection has ended.
    init(number: Int, slot: Int, pool: APNSPool, loop: EventLoop, configuration: PoolConfiguration) {
        self.number = number
        self.slot = slot
        self.pool = pool
        self.loop = loop
        self.configuration = configuration
        accepted = .answered(PushAnswer(status: 200, connection: number))
        headers = RequestHeaders(authority: Array(configuration.authority.utf8))
        tokenUse = TokenUse(configuration.token)
        lastActivity = loop.now.monotonic
        requestTimer = DeadlineTimer(on: loop)
        super.init()
        let limits = HTTP2Limits(
            streamsMax: configuration.streamsMax, responseBodyBytesMax: configuration.answerBytesMax)
        client = HTTP2Client(loop: loop, delegate: self, limits: limits)
    }

    func open(through connector: ByteConnector) {
        client.connect(through: connector)
    }

    /// Steps before this one have the connector's limits.
    override func connected() {
        phaseTimer = after(configuration.settingsTimeoutSeconds) {
            $0.giveUp("no SETTINGS within \($0.configuration.settingsTimeoutSeconds) s")
        }
    }

    /// Whether its pushes carry a provider token that is not newer than this.
    func sends(tokenUpTo generation: Int) -> Bool { token.map { $0.generation <= generation } ?? false }

    /// Sends a push; false when this connection can take no more at all, and then it drains.
    ///
    /// - Parameters:
    ///   - newest: the token to send, unless this connection has to go on with an older one; nil with a certificate.
    ///   - block: storage for the header fields.
    func start(_ push: Push, newest: ProviderToken?, block: inout HeaderBlock) -> Bool {
        loop.assertOnLoop()
        let now = loop.now
        if let newest, !takeToken(newest, now) {
            drain()
            return false
        }
        headers.write(push.request, token: token, to: &block)
        let stream = client.request(&block, body: push.request.payload, range: push.request.payloadRange)
        guard let stream else {
            drain()
            return false
        }
        while openStreams.count <= stream.slot { openStreams.append(nil) }
        openStreams[stream.slot] = OpenStream(
            stream: stream, push: push, tokenGeneration: token?.generation ?? 0, sentAt: now.monotonic)
        let timeout = configuration.timeout(of: push.request, now)
        deadlines.add(slot: stream.slot, deadline: now.monotonic.adding(seconds: timeout))
        armRequestTimer()
        return true
    }

    /// False when the connection can send neither this token nor the one before.
    private func takeToken(_ newest: ProviderToken, _ now: Now) -> Bool {
        switch tokenUse.decide(newest: newest.generation, mintedAt: newest.mintedAt.sinceBoot, now.sinceBoot) {
        case .useNewest: token = newest
        case .keep: break
        case .replaceConnection: return false
        }
        return true
    }

    /// Takes no more pushes, waits a while for the answers to come, and closes.
    func drain() {
        guard let pool, let member = pool.machine[slot], member.gate.isServing else { return }
        isLeaving = true
        pool.left(self)
        guard member.hasConnected else { return client.abort() }
        // Nobody hurries us: each request has its own time.
        waitForLastAnswers(max(configuration.drainGraceSeconds, configuration.requestTimeoutSeconds))
        goAwayIfDone()
    }

    /// Closes: in order when nothing is open, else at once.
    func close() {
        guard let pool, let member = pool.machine[slot] else { return }
        guard member.gate.inFlight == 0, client.isOpen else {
            pool.left(self)
            return client.abort()
        }
        drain()
    }

    /// GOAWAY comes last: peers were seen that close at once when they read it, and answer nothing more.
    private func goAwayIfDone() {
        guard isLeaving, client.isOpen, pool?.machine[slot]?.gate.inFlight == 0 else { return }
        client.goAway()
    }

    private func waitForLastAnswers(_ seconds: Int64) {
        cancel(&phaseTimer)
        phaseTimer = after(seconds) { $0.endGrace() }
    }

    private func endGrace() {
        guard client.isOpen else { return client.abort() }
        client.goAway()
        client.close()
        phaseTimer = after(configuration.closeSecondsMax) { $0.client.abort() }
    }

    private func giveUp(_ why: String) {
        failure = TransportError(.timedOut, "\(configuration.authority): \(why)")
        client.abort()
    }

    override func closed(_ error: TransportError?) {
        requestTimer.cancel()
        cancel(&phaseTimer)
        cancel(&idleTimer)
        cancel(&pingTimer)
        let pool = pool
        self.pool = nil
        pool?.connectionClosed(self, failure ?? error, goAwayReason: goAwayReason)
    }

    private func armRequestTimer() {
        guard let deadline = deadlines.next else { return }
        requestTimer.arm(at: deadline, for: self) { $0.endOverdueRequests() }
    }

    private func endOverdueRequests() {
        while let slot = deadlines.popDue(loop.now.monotonic) { timedOut(slot) }
        armRequestTimer()
    }

    /// No answer in time: resets the stream and ends its push, which APNs may have processed if the whole request left.
    private func timedOut(_ slot: Int) {
        guard let open = openStreams[slot], let push = open.push else { return }
        defer { checkLife() }
        // A status that has come is an answer; only its end is missing.
        guard open.status < 200 else { return client.reset(open.stream, .cancel) }
        switch client.progress(of: open.stream) {
        case .buffered:
            // It may still leave. The PING leaves behind it: at the next deadline it has left, or the connection ends.
            deadlines.add(slot: slot, deadline: loop.now.monotonic + .seconds(configuration.pingTimeoutSeconds))
        case .incomplete:
            abandon(open, slot)
            pool?.notWritten(push, by: self)
        case .written, nil:
            abandon(open, slot)
            pool?.outcomeUnknown(push, .timedOut, by: self)
        }
    }

    private func abandon(_ open: OpenStream, _ slot: Int) {
        openStreams[slot]?.push = nil
        client.reset(open.stream, .cancel)
    }

    private func watchIdleness() {
        let due = lastActivity + .seconds(configuration.idlePingSeconds)
        idleTimer = loop.schedule(at: max(due, loop.now.monotonic + .seconds(1))) { [self] in
            idleTimer = nil
            if lastActivity.duration(to: loop.now.monotonic) >= .seconds(configuration.idlePingSeconds) { checkLife() }
            watchIdleness()
        }
    }

    /// Asks the peer whether it is there, and gives the connection up when it is not.
    private func checkLife() {
        guard pingTimer == nil else { return }
        client.ping(UInt64(number))
        pingTimer = after(configuration.pingTimeoutSeconds) {
            $0.giveUp("no answer to PING within \($0.configuration.pingTimeoutSeconds) s")
        }
    }

    override func pingAcknowledged(_ number: UInt64) {
        lastActivity = loop.now.monotonic
        cancel(&pingTimer)
    }

    override func settingsReceived(_ settings: HTTP2Settings) {
        lastActivity = loop.now.monotonic
        if idleTimer == nil {
            cancel(&phaseTimer)
            watchIdleness()
        }
        pool?.settingsCame(self, streamsMax: settings.maxConcurrentStreams.map { Int($0) })
    }

    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        let reason = pool?.answers.read(debug).reason
        if goAwayReason == nil { goAwayReason = reason?.text ?? code.description }
        if let reason, reason.isAboutCertificate { certificateRefusal = .goAway(reason) }
        guard let pool, pool.machine[slot]?.gate.isServing == true else { return }
        waitForLastAnswers(configuration.drainGraceSeconds)
        pool.goAwayCame(self)
    }

    /// While nghttp2 reads the header block, what its end needs is fetched.
    override func headersBegan(_ stream: HTTP2Stream) {
        openStreams[stream.slot]?.push?.prefetch()
    }

    override func responseStatus(_ stream: HTTP2Stream, _ status: Int) {
        openStreams[stream.slot]?.status = status
    }

    override func responseHeader(_ stream: HTTP2Stream, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        if name.equals(HeaderName.apnsID) {
            openStreams[stream.slot]?.hasID = true
        } else if name.equals(HeaderName.apnsUniqueID) {
            details(of: stream)?.uniqueID = String(decoding: value.prefix(Self.idBytesMax), as: UTF8.self)
        } else if name.equals(HeaderName.apnsRequestID) {
            details(of: stream)?.requestID = String(decoding: value.prefix(Self.idBytesMax), as: UTF8.self)
        } else if name.equals(HeaderName.retryAfter) {
            details(of: stream)?.retryAfterSeconds = AnswerParser.decimal(value)
        } else if name.equals(HeaderName.apnsChannelID) {
            // What is cut would be another channel.
            guard value.count <= Self.channelIDBytesMax else { return }
            details(of: stream)?.channelID = String(decoding: value, as: UTF8.self)
        }
    }

    override func responseBody(_ stream: HTTP2Stream, _ bytes: UnsafeRawBufferPointer) {
        details(of: stream)?.body.append(contentsOf: bytes)
    }

    private func details(of stream: HTTP2Stream) -> Details? {
        if openStreams[stream.slot]?.details == nil { openStreams[stream.slot]?.details = Details() }
        return openStreams[stream.slot]?.details
    }

    override func streamEnded(_ stream: HTTP2Stream, _ end: StreamEnd) {
        // Taken out, not copied: a copy would count the references of the whole request.
        guard let open = openStreams[stream.slot].take() else { return }
        deadlines.remove(slot: stream.slot)
        let hasStatus = open.status >= 200
        if hasStatus { lastActivity = loop.now.monotonic }
        pool?.streamEnded(self, hasStatus ? StreamGate.end(status: open.status) : gateEnd(withoutAnswer: end))
        finish(open, end, hasStatus)
        goAwayIfDone()
        pool?.streamIsFree()
    }

    private func gateEnd(withoutAnswer end: StreamEnd) -> StreamGate.End {
        if !client.isOpen, certificateRefusal == nil { return .cutOff }
        return end == .refusedUnprocessed ? .refused : .other
    }

    /// A connection whose token went stale while it was idle was seen to answer 500 for ever, and as it answers fast, it
    /// would be given most of the pushes.
    private func count(_ answer: PushAnswer) {
        serverErrors = answer.status >= 500 || !answer.isFromAPNS ? serverErrors + 1 : 0
        if serverErrors >= configuration.serverErrorsMax { drain() }
    }

    /// A status that has come is an answer, even when the rest of it was cut off, unless the reason decides what
    /// follows: a refusal without it is asked for again, which sends nothing twice.
    private func finish(_ open: OpenStream, _ end: StreamEnd, _ hasStatus: Bool) {
        guard let push = open.push, let pool else {
            self.pool?.answeredTooLate()
            return
        }
        if end != .complete, (400..<429).contains(open.status) {
            return pool.refusedUnprocessed(push, by: self)
        }
        guard !hasStatus else {
            if open.status == 200, open.details == nil, !push.request.isAboutChannels {
                serverErrors = 0
                return pool.accepted(push, accepted, sentAt: open.sentAt, by: self)
            }
            let answer = answer(to: push.request, open, pool)
            pool.answered(
                push, answer, tokenGeneration: open.tokenGeneration, sentAt: open.sentAt, by: self)
            return count(answer)
        }
        switch end {
        case .refusedUnprocessed: pool.refusedUnprocessed(push, by: self)
        case .complete: pool.outcomeUnknown(push, .streamReset(.protocolError), by: self)
        case .reset(let code): pool.outcomeUnknown(push, .streamReset(code), by: self)
        case .connectionLost: pool.outcomeUnknown(push, .connectionLost, by: self)
        }
    }

    private func answer(to request: APNSRequest, _ open: OpenStream, _ pool: APNSPool) -> PushAnswer {
        let details = open.details
        var answer = PushAnswer(
            status: open.status, isFromAPNS: open.status == 200, connection: number,
            apnsUniqueID: details?.uniqueID, apnsRequestID: details?.requestID,
            retryAfterSeconds: details?.retryAfterSeconds)
        if request.isAboutChannels, 200..<300 ~= open.status {
            answer.isFromAPNS = true
            answer.channel = ChannelAnswer(channelID: details?.channelID, body: details?.body ?? [])
            return answer
        }
        answer.isFromAPNS = answer.isFromAPNS || Self.isOfAPNSWithoutReason(open)
        guard let body = details?.body, !body.isEmpty else { return answer }
        let contents = body.withUnsafeBytes { pool.answers.read($0) }
        answer.reason = contents.reason
        answer.timestampMilliseconds = contents.timestampMilliseconds
        answer.isFromAPNS = answer.isFromAPNS || contents.isOfAPNS
        return answer
    }

    /// Where that condemns nothing but the message: a device that is gone, a request that is wrong. A 403 without its
    /// JSON may be a proxy's.
    private static func isOfAPNSWithoutReason(_ open: OpenStream) -> Bool {
        guard open.hasID else { return false }
        let first = open.details?.body.first
        return open.status == 410 && first == nil || open.status == 400 && first == UInt8(ascii: "{")
    }

    private func after(_ seconds: Int64, _ action: @escaping (APNSConnection) -> Void) -> TimerToken {
        loop.schedule(after: .seconds(seconds)) { [self] in action(self) }
    }

    private func cancel(_ timer: inout TimerToken?) {
        if let token = timer { loop.cancel(token) }
        timer = nil
    }
}
