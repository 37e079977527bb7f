import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import Telemetry

/// Connections to one endpoint of APNs, with one credential, on one lane: opens them as they are needed, spreads pushes over
/// them, and replaces those that end. `PoolMachine` decides, this does what it says.
///
/// Everything happens on the loop's thread. Every push that was given ends with exactly one outcome, within
/// `waitSecondsMax` for each time that it waits for a stream, `tokenWaitSecondsMax` for a token, and
/// `requestTimeoutSeconds` for its answer.
public final class APNSPool {
    /// Priorities of pushes are below this.
    public static let prioritiesMax = WaitingPushes.prioritiesMax

    public let configuration: PoolConfiguration
    private var handler = PoolHandler()
    private(set) var statistics = PoolStatistics()
    let answers = AnswerParser()
    private struct Refused {
        var push: Push
        var answer: PushAnswer
        var tokenGeneration: Int
    }

    /// What became of a push whose receiver is not told yet.
    private struct Ended {
        var receiver: any PushReceiver
        var outcome: PushOutcome
    }

    private let loop: EventLoop
    private let connector: ByteConnector
    private let log: Log
    private let metrics: PoolMetrics
    private let resends: ResendPolicy
    /// nil with a certificate.
    private var tokens: PoolTokens?
    /// Those whose provider token was refused, until it is known whether there is a newer one.
    private var refused: [Refused] = []
    /// Pushes that wait for a provider token because the newest is too old.
    private var tokenless: [Push] = []
    private var tokenTimer: TimerToken?
    private var ended: [Ended] = []
    private(set) var machine: PoolMachine
    /// By slot. Those that drain are among them until they have ended.
    private var connections: [APNSConnection?] = []
    private var waiting = WaitingPushes()
    private var block = HeaderBlock()
    private var isAccepting = true
    private var isTokenMissing = false
    private let waitTimer: DeadlineTimer
    private let openTimer: DeadlineTimer
    private var shrinkTimer: TimerToken?

    /// - Parameters:
    ///   - connector: opens a connection to the endpoint, over TLS with `h2` agreed; resolves its name anew each time.
    ///   - tokens: where a key's provider tokens come from; nil: the pool signs them itself, as they are needed.
    public init(
        loop: EventLoop, connector: ByteConnector, configuration: PoolConfiguration, tokens: TokenSupply? = nil,
        metrics: PoolMetrics = PoolMetrics(), log: Log = .silent
    ) {
        self.loop = loop
        self.connector = connector
        self.configuration = configuration
        self.log = log
        self.metrics = metrics
        waitTimer = DeadlineTimer(on: loop)
        openTimer = DeadlineTimer(on: loop)
        self.tokens = configuration.credential.key.map { PoolTokens($0, configuration.token, tokens) }
        resends = ResendPolicy(resendsMax: configuration.resendsMax)
        machine = PoolMachine(
            PoolMachine.Limits(
                connectionsMax: configuration.connectionsMax, streamsMax: configuration.streamsMax,
                provesToken: configuration.credential.key != nil,
                probeAnswerSecondsMax: configuration.probeAnswerSecondsMax,
                shrinkSeconds: configuration.shrinkSecondsMin...configuration.shrinkSecondsMax),
            configuration.reconnect)
    }

    /// Gives the pool the handler of its events, which it releases when it is closed.
    public func start(_ handler: PoolHandler) {
        loop.assertOnLoop()
        self.handler = handler
    }

    /// Sends a push and waits for what becomes of it. Does not heed cancellation: a push that was sent has an outcome.
    ///
    /// - Parameters:
    ///   - priority: from 0, which goes first among those that wait for a stream, and for which the others leave some
    ///     free, to below ``prioritiesMax``.
    ///   - onFreshConnection: send it as the first push of a connection that is opened for it, since APNs binds a
    ///     connection to the topics that were allowed at its first push. If it is accepted, the connections from before
    ///     are left; if not, the new one is.
    ///   - timing: is told when the push left and was answered.
    public func send(
        _ request: APNSRequest, priority: Int = 0, onFreshConnection: Bool = false, timing: PushTiming? = nil
    ) async -> PushOutcome {
        await withUnsafeContinuation {
            send(
                request, priority: priority, onFreshConnection: onFreshConnection, timing: timing,
                ContinuationPushReceiver($0))
        }
    }

    /// The same without a task that waits.
    public func send(
        _ request: APNSRequest, priority: Int, onFreshConnection: Bool, timing: PushTiming?,
        _ receiver: any PushReceiver
    ) {
        loop.assertOnLoop()
        let priority = UInt8(min(max(0, priority), Self.prioritiesMax - 1))
        submit(
            Push(
                request: request, receiver: receiver, priority: priority, wantsFreshConnection: onFreshConnection,
                givenAt: loop.now.monotonic, timing: timing))
    }

    /// Takes no more pushes and gives back those that wait; answers to those that were sent are still awaited.
    public func stopAccepting() {
        loop.assertOnLoop()
        isAccepting = false
        machine.stopAccepting()
        while let push = waiting.popAny() { end(push, .notSent(.draining)) }
        for push in takeTokenless() { end(push, .notSent(.draining)) }
        finishRefused()
        waitTimer.cancel()
        openTimer.cancel()
        if let shrinkTimer { loop.cancel(shrinkTimer) }
        shrinkTimer = nil
    }

    /// There is a new provider token, or none for one that was refused.
    public func take(_ news: TokenNews) {
        loop.assertOnLoop()
        tokens?.take(news)
        guard case .newest = news else {
            endTokenless()
            return finishRefused()
        }
        let again = refused
        refused = []
        for one in again { resend(one.push, insteadOfToken: one.tokenGeneration) }
        for push in takeTokenless() { wait(push) }
        sendWaiting()
    }

    /// Ends all connections. Pushes without an answer end as unknown.
    public func close() {
        stopAccepting()
        for connection in connections { connection?.close() }
        handler = PoolHandler()
    }

    /// Keeps connecting, with no push to send, until a connection stands; the handler receives `connected`, soon if one stands already.
    public func probe() {
        loop.assertOnLoop()
        if machine.probe() {
            loop.schedule(after: .zero) { [self] in handler.received(.connected) }
        } else {
            openConnections()
        }
    }

    /// Connects for pushes only.
    public func stopProbing() {
        loop.assertOnLoop()
        machine.stopProbing()
    }

    /// Ends the pushes that wait, as not sent for want of a connection.
    public func giveBackWaiting() {
        loop.assertOnLoop()
        while let push = waiting.popAny() { end(push, .notSent(.noConnection)) }
        for push in takeTokenless() { end(push, .notSent(.noConnection)) }
        waitTimer.cancel()
    }

    /// Leaves the connections that there are; pushes from now on get new ones.
    public func retireConnections() {
        loop.assertOnLoop()
        for slot in machine.retire() { connections[slot]?.drain() }
    }

    /// Pushes that wait for a free stream, or for a provider token.
    public var waitingCount: Int { waiting.count + tokenless.count }

    /// Whether a connection stands that takes pushes.
    public var isConnected: Bool { machine.isConnected }

    /// Whether such a connection has shown that APNs takes the credential.
    public var hasProvedItself: Bool { machine.hasProvedItself }

    var tokenAgeSeconds: Int? {
        tokens?.ageSeconds(loop.now).map { Int($0) }
    }

    /// Connections that have not ended.
    public var connectionCount: Int { connections.reduce(0) { $1 == nil ? $0 : $0 + 1 } }

    private func submit(_ push: Push) {
        guard isAccepting else { return end(push, .notSent(.draining)) }
        guard RequestHeaders.canSend(push.request) else { return end(push, .notSent(.malformed)) }
        if !push.wantsFreshConnection, !waiting.isBefore(priority: push.priority), start(push) { return }
        guard waitingCount < configuration.waitingMax else { return end(push, .notSent(.overloaded)) }
        wait(push)
    }

    /// Gives the push to a connection; false when none has a stream free.
    private func start(_ push: Push) -> Bool {
        while let slot = machine.choose(priority: push.priority, loop.now.monotonic) {
            if start(push, on: slot) { return true }
        }
        return false
    }

    /// False when the connection takes no more, and then it drains; else the push was sent or has ended.
    private func start(_ push: Push, on slot: Int) -> Bool {
        guard let connection = connections[slot] else { return false }
        let now = loop.now
        guard !push.request.isExpired(unixSeconds: now.unixSeconds) else {
            end(push, .notSent(.expired))
            return true
        }
        let token = tokens?.usable(now, random: loop.nextRandom)
        guard token != nil || tokens == nil else {
            waitForToken(push)
            return true
        }
        isTokenMissing = false
        guard connection.start(push, newest: token, block: &block) else { return false }
        if machine.streamBegan(slot, now.monotonic) { openConnections(isHigh: true) }
        metrics.stream.observe(push.givenAt, now.monotonic)
        push.timing?.sentAt = now.unixNanoseconds
        return true
    }

    /// Right after the machine was suspended the newest token is too old, until its signer has been asked.
    private func waitForToken(_ push: Push) {
        guard tokens?.askForNewer() == true else {
            logMissingToken()
            return end(push, .notSent(.noToken))
        }
        guard tokenless.count < configuration.waitingMax else { return end(push, .notSent(.overloaded)) }
        tokenless.append(push)
        guard tokenTimer == nil else { return }
        tokenTimer = loop.schedule(after: .seconds(configuration.tokenWaitSecondsMax)) { [self] in
            tokenTimer = nil
            endTokenless()
        }
    }

    private func takeTokenless() -> [Push] {
        if let tokenTimer { loop.cancel(tokenTimer) }
        tokenTimer = nil
        defer { tokenless = [] }
        return tokenless
    }

    private func endTokenless() {
        let pushes = takeTokenless()
        if !pushes.isEmpty { logMissingToken() }
        for push in pushes { endUnsent(push, .noToken) }
    }

    /// Once until there is a token again: every push would say the same.
    private func logMissingToken() {
        guard !isTokenMissing, let key = configuration.credential.key else { return }
        isTokenMissing = true
        log.error(
            .tokenMissing,
            [
                .apnsKeyID: .string(key.keyID), .apnsTeamID: .string(key.teamID),
                .error: .string(tokens?.error?.message ?? "the last one is too old, and the next may not be made yet"),
            ])
    }

    private func wait(_ push: Push) {
        guard isAccepting else { return end(push, .notSent(.draining)) }
        let now = loop.now
        waiting.add(push, deadline: now.monotonic.adding(seconds: configuration.wait(of: push.request, now)))
        armWaitTimer()
        openConnections()
    }

    private func armWaitTimer() {
        guard let deadline = waiting.next else { return }
        waitTimer.arm(at: deadline, for: self) { $0.endOverdue() }
    }

    private func endOverdue() {
        while let push = waiting.popDue(loop.now.monotonic) { endUnsent(push, .noConnection) }
        armWaitTimer()
    }

    /// Gives what waits to the connections as far as they take it.
    private func sendWaiting() {
        guard !waiting.isEmpty else { return }
        while let priority = waiting.priority, machine.choose(priority: priority, loop.now.monotonic) != nil,
            let push = waiting.popShared()
        {
            if !start(push) { wait(push) }
        }
        openConnections()
    }

    /// Sends the push that the connection was opened for. Does nothing while one is in flight there: APNs binds the
    /// connection to the topics of its first push, and SETTINGS may come again before that push is answered.
    private func sendFresh(on slot: Int) {
        guard let member = machine[slot], member.isReserved, member.gate.inFlight == 0, member.gate.free() > 0 else {
            return
        }
        while let push = waiting.popFresh() {
            guard start(push, on: slot) else { return wait(push) }
            if machine[slot]?.gate.inFlight != 0 { return }
        }
        machine.release(slot)
    }

    /// Opens as many connections as the machine wants, and asks again when it says so.
    private func openConnections(isHigh: Bool = false) {
        while true {
            let demand = PoolMachine.Demand(
                hasShared: waiting.hasShared, isHigh: isHigh, hasFresh: waiting.hasFresh)
            switch machine.nextOpening(demand, loop.now.monotonic) {
            case .none: return
            case .later(let time): return openTimer.arm(at: time, for: self) { $0.openConnections() }
            case .leave(let slot): connections[slot]?.drain()
            case .open(let slot): open(slot)
            }
        }
    }

    /// Leaves connections that are not needed any more.
    private func shrink() {
        guard isAccepting, shrinkTimer == nil else { return }
        while true {
            switch machine.nextShrinking(loop.now.monotonic, random: loop.nextRandom) {
            case .none: return
            case .leave(let slot): connections[slot]?.drain()
            case .later(let time):
                shrinkTimer = loop.schedule(at: time) { [self] in
                    shrinkTimer = nil
                    shrink()
                }
                return
            }
        }
    }

    private func open(_ slot: Int) {
        metrics.connects.add()
        let connection = APNSConnection(
            number: machine.begun, slot: slot, pool: self, loop: loop, configuration: configuration)
        if slot == connections.count { connections.append(connection) } else { connections[slot] = connection }
        connection.open(through: connector)
    }

    func settingsCame(_ connection: APNSConnection, streamsMax: Int?) {
        let isNew = machine.settingsCame(connection.slot, streamsMax: streamsMax)
        log.debug(
            .connectionOpened,
            [
                .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                .apnsStreamsMax: streamsMax.map { .integer($0) },
            ])
        if isNew { handler.received(.connected) }
        shrink()
        sendFresh(on: connection.slot)
        sendWaiting()
    }

    func goAwayCame(_ connection: APNSConnection) {
        let event = machine.goAwayCame(connection.slot)
        if let refusal = connection.certificateRefusal {
            refused(refusal)
        } else if let event {
            handler.received(event)
        }
        openConnections()
    }

    func left(_ connection: APNSConnection) {
        machine.leave(connection.slot)
        openConnections()
    }

    func connectionClosed(_ connection: APNSConnection, _ error: TransportError?, goAwayReason: String?) {
        connections[connection.slot] = nil
        log.debug(
            .connectionEnded,
            [
                .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                .apnsReason: goAwayReason.map { .string($0) }, .error: error.map { .string($0.message) },
            ])
        let error = error ?? TransportError(.reset, goAwayReason ?? "the connection ended before it stood")
        let event = machine.closed(connection.slot, error, loop.now.monotonic, random: loop.nextRandom)
        if error.code == .certificateRefused {
            refused(.handshake(error.message))
        } else if let event {
            handler.received(event)
        }
        sendWaiting()
        openConnections()
    }

    /// What waits would hear the same on every connection.
    private func refused(_ refusal: CertificateRefusal) {
        while let push = waiting.popAny() { end(push, .notSent(.certificateRefused(refusal))) }
        waitTimer.cancel()
        handler.received(.certificateRefused(refusal))
    }

    func streamEnded(_ connection: APNSConnection, _ end: StreamGate.End) {
        machine.streamEnded(connection.slot, end, loop.now.monotonic)
    }

    /// A stream is free, and what became of its push is known.
    func streamIsFree() {
        sendWaiting()
    }

    /// It was answered 200 and no more, as `outcome` says.
    func accepted(_ push: Push, _ outcome: PushOutcome, sentAt: MonotonicTime, by connection: APNSConnection) {
        answerCame(push, sentAt: sentAt, isAccepted: true, by: connection)
        end(push, outcome)
    }

    private func answerCame(_ push: Push, sentAt: MonotonicTime, isAccepted: Bool, by connection: APNSConnection) {
        metrics.answer.observe(sentAt, loop.now.monotonic)
        push.timing?.answeredAt = loop.now.unixNanoseconds
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: isAccepted) }
    }

    func answered(
        _ push: Push, _ answer: PushAnswer, tokenGeneration: Int, sentAt: MonotonicTime, by connection: APNSConnection
    ) {
        answerCame(push, sentAt: sentAt, isAccepted: answer.status == 200, by: connection)
        guard answer.status != 200, answer.channel == nil else { return end(push, .answered(answer)) }
        let verdict = AnswerVerdict(status: answer.status, reason: answer.reason, isFromAPNS: answer.isFromAPNS)
        if verdict.replacesConnection { connection.drain() }
        switch resends.afterAnswer(verdict, answer.reason, push.tries) {
        case .finish:
            end(push, .answered(answer))
        case .resend:
            resend(push, withNewToken: false)
        case .resendWithNewToken(let kind):
            let refusal = TokenRefusal(kind: kind, generation: tokenGeneration)
            switch tokens?.refused(refusal, loop.now, random: loop.nextRandom) {
            case .newer: resend(push, insteadOfToken: tokenGeneration)
            case .asked: refused.append(Refused(push: push, answer: answer, tokenGeneration: tokenGeneration))
            case .some(.none), nil: refuse(push, answer, tokenGeneration)
            }
        }
    }

    private func resend(_ push: Push, insteadOfToken generation: Int) {
        leaveConnections(withTokenUpTo: generation)
        resend(push, withNewToken: true)
    }

    private func refuse(_ push: Push, _ answer: PushAnswer, _ tokenGeneration: Int) {
        if answer.reason == .invalidProviderToken { leaveConnections(withTokenUpTo: tokenGeneration) }
        end(push, .answered(answer))
    }

    /// Others that send the same token, or an older one, would be refused as well.
    private func leaveConnections(withTokenUpTo generation: Int) {
        for connection in connections where connection?.sends(tokenUpTo: generation) == true { connection?.drain() }
    }

    private func finishRefused() {
        let refused = refused
        self.refused = []
        for one in refused { refuse(one.push, one.answer, one.tokenGeneration) }
    }

    func refusedUnprocessed(_ push: Push, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        if let refusal = connection.certificateRefusal { return end(push, .notSent(.certificateRefused(refusal))) }
        switch resends.afterRefusal(push.tries) {
        case .resend, .resendWithNewToken: resend(push, withNewToken: false)
        case .finish: end(push, .notSent(.refused))
        }
    }

    /// The connection took the push and could not write it in time.
    func notWritten(_ push: Push, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        endUnsent(push, .notWritten(silentConnection: silentNumber(of: connection)))
    }

    /// It has waited as long as it may.
    private func endUnsent(_ push: Push, _ reason: NotSentReason) {
        end(push, .notSent(push.request.isExpired(unixSeconds: loop.now.unixSeconds) ? .expired : reason))
    }

    /// nil once APNs has taken the token or the certificate on the connection.
    private func silentNumber(of connection: APNSConnection) -> Int? {
        machine[connection.slot]?.hasProvedItself == false ? connection.number : nil
    }

    func outcomeUnknown(_ push: Push, _ reason: UnknownReason, by connection: APNSConnection) {
        if push.wantsFreshConnection { freshEnded(on: connection, isAccepted: false) }
        statistics.unknown += 1
        end(push, .unknown(reason, silentConnection: silentNumber(of: connection)))
    }

    func answeredTooLate() {
        statistics.endedLate += 1
    }

    private func resend(_ push: Push, withNewToken: Bool) {
        var push = push
        push.tries.resent(withNewToken: withNewToken)
        metrics.resent.add()
        wait(push)
    }

    /// Called once for each push; whoever holds it gives it away with this.
    private func end(_ push: Push, _ outcome: PushOutcome) {
        if ended.isEmpty { loop.later { [self] in tellReceivers() } }
        ended.append(Ended(receiver: push.receiver, outcome: outcome))
    }

    private func tellReceivers() {
        var index = 0
        while index < ended.count {
            let next = ended[index]
            index += 1
            if index < ended.count { Prefetch.object(ended[index].receiver) }
            next.receiver.pushed(next.outcome)
        }
        ended.removeAll(keepingCapacity: true)
    }

    private func freshEnded(on connection: APNSConnection, isAccepted: Bool) {
        for slot in machine.freshEnded(connection.slot, isAccepted: isAccepted) { connections[slot]?.drain() }
    }
}
