import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import Telemetry

/// The connections of a lane to one endpoint of APNs with one credential: opens them as needed, spreads pushes over them, and
/// replaces those that end. `PoolMachine` decides.
///
/// Loop-bound. Each push ends with exactly one outcome, within
/// `waitSecondsMax` for each time that it waits for a stream, `tokenWaitSecondsMax` for a token, and
/// `requestTimeoutSeconds` for its answer.
public final class APNSPool {
    /// Priorities of pushes are below this.
    public static let prioritiesMax = WaitingPushes.prioritiesMax

    public let configuration: PoolConfiguration
    var handler = PoolHandler()
    var statistics = PoolStatistics()
    let answers = AnswerParser()

    /// A push whose provider token was refused.
    struct Refused {
        var push: Push
        var answer: PushAnswer
        var tokenGeneration: Int
    }

    /// The outcome of a push whose receiver is not notified yet.
    struct Ended {
        var receiver: any PushReceiver
        var outcome: PushOutcome
    }

    let loop: EventLoop
    let connector: ByteConnector
    let log: Log
    let metrics: PoolMetrics
    let resends: ResendPolicy
    /// nil with a certificate.
    var tokens: PoolTokens?
    /// Until it is known whether there is a newer provider token.
    var refused: [Refused] = []
    /// Pushes that wait for a provider token because the newest is too old.
    var tokenless: [Push] = []
    var tokenTimer: TimerToken?
    var ended: [Ended] = []
    var machine: PoolMachine
    /// By slot, draining ones included.
    var connections: [APNSConnection?] = []
    var waiting = WaitingPushes()
    private var block = HeaderBlock()
    var isAccepting = true
    var isTokenMissing = false
    let waitTimer: DeadlineTimer
    let openTimer: DeadlineTimer
    var shrinkTimer: TimerToken?

    /// - Parameters:
    ///   - connector: opens a connection to the endpoint, over TLS with `h2` agreed; resolves its name each time.
    ///   - tokens: the source of a key's provider tokens; nil: the pool signs them itself, as they are needed.
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

    /// Ends all connections. Pushes without an answer end as unknown.
    public func close() {
        stopAccepting()
        for connection in connections { connection?.close() }
        handler = PoolHandler()
    }

    /// Pushes that wait for a free stream, or for a provider token.
    public var waitingCount: Int { waiting.count + tokenless.count }

    /// Whether a connection stands that takes pushes.
    public var isConnected: Bool { machine.isConnected }

    /// Whether such a connection has shown that APNs takes the credential.
    public var isAuthenticated: Bool { machine.isAuthenticated }

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

    func wait(_ push: Push) {
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
    func sendWaiting() {
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
    func sendFresh(on slot: Int) {
        guard let member = machine[slot], member.isReserved, member.gate.inFlight == 0, member.gate.free() > 0 else {
            return
        }
        while let push = waiting.popFresh() {
            guard start(push, on: slot) else { return wait(push) }
            if machine[slot]?.gate.inFlight != 0 { return }
        }
        machine.release(slot)
    }

    /// It has waited as long as it may.
    func endUnsent(_ push: Push, _ reason: NotSentReason) {
        end(push, .notSent(push.request.isExpired(unixSeconds: loop.now.unixSeconds) ? .expired : reason))
    }

    /// Called once for each push; whoever holds it gives it away with this.
    func end(_ push: Push, _ outcome: PushOutcome) {
        if ended.isEmpty { loop.later { [self] in notifyReceivers() } }
        ended.append(Ended(receiver: push.receiver, outcome: outcome))
    }

    private func notifyReceivers() {
        var index = 0
        while index < ended.count {
            let next = ended[index]
            index += 1
            if index < ended.count { Prefetch.object(ended[index].receiver) }
            next.receiver.pushed(next.outcome)
        }
        ended.removeAll(keepingCapacity: true)
    }
}
