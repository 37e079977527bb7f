import APNSProtocol
import EventLoop
import HTTP2
import Telemetry

/// A connection to APNs that sends pushes, reads their answers, and detects an unresponsive peer. The pool receives
/// the outcome of each push.
final class APNSConnection: HTTP2ClientDelegate {
    /// An open stream and the push that the stream carries. The slot of the stream is the index in `openStreams`.
    private struct OpenStream {
        var stream: HTTP2Stream
        /// The push; nil once its outcome is known. The stream may close later.
        var push: Push?
        var tokenGeneration: Int
        var sentAt: MonotonicTime
        /// The last HTTP status, of the answer or of an interim response; 0 before the first status.
        var status = 0
        /// Whether the answer has an `apns-id` header. Each answer of APNs to a device push has this header.
        var hasID = false
        /// The body and the stored header values; nil if the answer has none of these, for example if production
        /// accepts a device push.
        var details: Details?
    }

    /// The body and the stored header values of an answer.
    private final class Details {
        var body: [UInt8] = []
        var uniqueID: String?
        var requestID: String?
        var retryAfterSeconds: Int64?
        var channelID: String?
    }

    /// Maximum stored length of `apns-unique-id` and `apns-request-id`. A UUID is shorter.
    private static let idBytesMax = 64
    /// Maximum length of a stored `apns-channel-id`. Apple documents no limit ("don't assume an ID's size").
    private static let channelIDBytesMax = 1024

    /// Number of the connection within the pool, from 1.
    let number: Int
    /// Index of the connection in the pool and in its `PoolMachine`.
    let slot: Int
    private let loop: EventLoop
    /// Number of consecutive answers that have status 5xx or do not come from APNs.
    private var serverErrors = 0
    private let configuration: PoolConfiguration
    /// The outcome of a push that APNs accepted without details. Allocated once, since this outcome is the most
    /// frequent.
    private let accepted: PushOutcome
    private var pool: APNSPool?
    private var client: HTTP2Client!
    private var headers: RequestHeaders
    private var tokenUse: TokenUse
    private var token: ProviderToken?
    private var openStreams: [OpenStream?] = []
    private var deadlines = DeadlineList()
    private var lastActivity: MonotonicTime
    /// Whether this side started the drain.
    private var isDraining = false
    private var goAwayReason: String?
    /// The refusal of the connection's certificate in a GOAWAY; nil without such a GOAWAY.
    private(set) var certificateRefusal: CertificateRefusal?
    /// The error for which this side aborted the connection.
    private var failure: TransportError?
    private let requestTimer: DeadlineTimer
    // Each token is nil until its timer is scheduled, and after the timer is canceled.
    private var phaseTimer: TimerToken?
    private var idleTimer: TimerToken?
    private var pingTimer: TimerToken?

    /// Creates a connection that does not connect yet.
    ///
    /// - Parameter pool: retained until the connection is closed.
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

    /// Starts the timeout for the peer's SETTINGS. The connector limits the time of the earlier steps.
    override func connected() {
        phaseTimer = after(configuration.settingsTimeoutSeconds) {
            $0.fail("no SETTINGS within \($0.configuration.settingsTimeoutSeconds) s")
        }
    }

    /// Returns whether the connection sends a provider token of at most this generation.
    func sends(tokenUpTo generation: Int) -> Bool { token.map { $0.generation <= generation } ?? false }

    /// Sends a push. If the connection cannot send the push, drains the connection and returns false.
    ///
    /// - Parameters:
    ///   - newest: the newest token; nil if the credential is a certificate. ``TokenUse`` may keep an older token.
    ///   - block: reusable storage for the header fields.
    func start(_ push: Push, newest: ProviderToken?, block: inout HeaderBlock) -> Bool {
        loop.assertOnLoop()
        let now = loop.now
        if let newest, !selectToken(newest, now) {
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

    /// Chooses the token to send. Returns false if the connection can send neither the newest nor the current token.
    private func selectToken(_ newest: ProviderToken, _ now: Now) -> Bool {
        switch tokenUse.decide(newest: newest.generation, mintedAt: newest.mintedAt.sinceBoot, now.sinceBoot) {
        case .useNewest: token = newest
        case .keep: break
        case .replaceConnection: return false
        }
        return true
    }

    /// Stops accepting pushes, waits for outstanding answers for a limited time, and closes. Aborts a connection that
    /// has not connected yet.
    func drain() {
        guard let pool, let member = pool.machine[slot], member.gate.isServing else { return }
        isDraining = true
        pool.drainStarted(self)
        guard member.hasConnected else { return client.abort() }
        // Without a GOAWAY from the peer, each request keeps its full timeout.
        waitForLastAnswers(max(configuration.drainGraceSeconds, configuration.requestTimeoutSeconds))
        goAwayIfDone()
    }

    /// Closes the connection gracefully if it is open and no request is in flight. Otherwise aborts the connection.
    func close() {
        guard let pool, let member = pool.machine[slot] else { return }
        guard member.gate.inFlight == 0, client.isOpen else {
            pool.drainStarted(self)
            return client.abort()
        }
        drain()
    }

    /// Sends GOAWAY after the last answer, because some peers that receive a GOAWAY close the connection without
    /// answering open requests.
    private func goAwayIfDone() {
        guard isDraining, client.isOpen, pool?.machine[slot]?.gate.inFlight == 0 else { return }
        client.goAway()
    }

    private func waitForLastAnswers(_ seconds: Int64) {
        cancel(&phaseTimer)
        phaseTimer = after(seconds) { $0.graceEnded() }
    }

    private func graceEnded() {
        guard client.isOpen else { return client.abort() }
        client.goAway()
        client.close()
        phaseTimer = after(configuration.closeSecondsMax) { $0.client.abort() }
    }

    private func fail(_ reason: String) {
        failure = TransportError(.timedOut, "\(configuration.authority): \(reason)")
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

    /// Sends a PING. Resets a stream whose answer is overdue, and reports its push to the pool. If the request is still
    /// buffered, extends the deadline instead. APNs may have processed the push if its request was `written`.
    private func timedOut(_ slot: Int) {
        guard let open = openStreams[slot], let push = open.push else { return }
        defer { sendPing() }
        // The status has arrived, so the push has its answer. Only the rest of the answer is missing.
        guard open.status < 200 else { return client.reset(open.stream, .cancel) }
        switch client.progress(of: open.stream) {
        case .buffered:
            // The request may still be written. A PING is queued after the request. By the next deadline, either the
            // request was written or the missing PING answer has ended the connection.
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
            if lastActivity.duration(to: loop.now.monotonic) >= .seconds(configuration.idlePingSeconds) { sendPing() }
            watchIdleness()
        }
    }

    /// Sends a PING, unless one is pending. Aborts the connection if the peer does not acknowledge the PING in time.
    private func sendPing() {
        guard pingTimer == nil else { return }
        client.ping(UInt64(number))
        pingTimer = after(configuration.pingTimeoutSeconds) {
            $0.fail("no answer to PING within \($0.configuration.pingTimeoutSeconds) s")
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
        pool?.settingsReceived(self, streamsMax: settings.maxConcurrentStreams.map { Int($0) })
    }

    override func goAwayReceived(lastStreamID: Int32, _ code: HTTP2ErrorCode, debug: UnsafeRawBufferPointer) {
        let reason = pool?.answers.read(debug).reason
        if goAwayReason == nil { goAwayReason = reason?.text ?? code.description }
        if let reason, reason.isAboutCertificate { certificateRefusal = .goAway(reason) }
        guard let pool, pool.machine[slot]?.gate.isServing == true else { return }
        waitForLastAnswers(configuration.drainGraceSeconds)
        pool.goAwayReceived(self)
    }

    /// Prefetches the memory that completing the push uses, while nghttp2 decodes the header block.
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
            // A truncated ID would name another channel.
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
        // Move the entry, because a copy would retain every reference of the request.
        guard let open = openStreams[stream.slot].take() else { return }
        deadlines.remove(slot: stream.slot)
        let hasStatus = open.status >= 200
        if hasStatus { lastActivity = loop.now.monotonic }
        pool?.streamEnded(self, hasStatus ? StreamGate.end(status: open.status) : gateEnd(withoutAnswer: end))
        finish(open, end, hasStatus)
        goAwayIfDone()
        pool?.streamFreed()
    }

    private func gateEnd(withoutAnswer end: StreamEnd) -> StreamGate.End {
        if !client.isOpen, certificateRefusal == nil { return .cutOff }
        return end == .refusedUnprocessed ? .refused : .other
    }

    /// Counts consecutive server errors, and drains the connection after too many. APNs was observed to answer every
    /// push with 500 on a connection whose token had expired while the connection was idle. These answers are fast,
    /// so the connection would receive most pushes.
    private func countServerError(_ answer: PushAnswer) {
        serverErrors = answer.status >= 500 || !answer.isFromAPNS ? serverErrors + 1 : 0
        if serverErrors >= configuration.serverErrorsMax { drain() }
    }

    /// Reports the outcome of a push. A received status counts as an answer even if the rest was cut off. The
    /// exception is an answer with status 400 to 428 that was cut off. The pool can then send the push again, which is
    /// safe because APNs refused the push.
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
            return countServerError(answer)
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

    /// Returns whether an answer with `apns-id` but without a readable reason counts as an answer of APNs. True only
    /// for an answer that affects a single request. Such an answer is 410 with an empty body, or 400 with a body that
    /// begins like a JSON object. A 403 without JSON may come from a proxy.
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
