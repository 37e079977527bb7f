import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import Telemetry

/// The connections of one event loop to one APNs endpoint with one credential. The pool opens connections as needed,
/// distributes pushes over the connections, and replaces connections that end. `PoolMachine` makes the decisions.
///
/// The pool is bound to its loop's thread. Each push gets exactly one outcome. `PoolConfiguration` limits how long a
/// push waits for a stream, for a token, and for its answer. The limit of the wait for a stream applies again before
/// each resend.
public final class APNSPool {
    /// Number of priorities. Priorities are from 0 to one less than this value.
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

    /// A completed push whose receiver has not been notified yet.
    struct Ended {
        var receiver: any PushReceiver
        var outcome: PushOutcome
    }

    let loop: EventLoop
    let connector: ByteConnector
    let log: Log
    let metrics: PoolMetrics
    let resends: ResendPolicy
    /// The provider tokens; nil if the credential is a certificate.
    var tokens: PoolTokens?
    /// Pushes whose token was refused, until the reply to the request for a newer token arrives.
    var refused: [Refused] = []
    /// Pushes that wait for a provider token, because the newest token is too old.
    var tokenless: [Push] = []
    var tokenTimer: TimerToken?
    var ended: [Ended] = []
    var machine: PoolMachine
    /// Connections by slot, including draining connections.
    var connections: [APNSConnection?] = []
    var waiting = WaitingPushes()
    private var block = HeaderBlock()
    var isAccepting = true
    var isTokenMissing = false
    let waitTimer: DeadlineTimer
    let openTimer: DeadlineTimer
    var shrinkTimer: TimerToken?

    /// Creates a pool without connections.
    ///
    /// - Parameters:
    ///   - connector: opens a TLS connection to the endpoint and negotiates `h2`. Resolves the host name each time.
    ///   - tokens: the supply of the key's provider tokens; nil if the pool signs its own, or for a certificate.
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
                requiresTokenProof: configuration.credential.key != nil,
                probeAnswerSecondsMax: configuration.probeAnswerSecondsMax,
                shrinkSeconds: configuration.shrinkSecondsMin...configuration.shrinkSecondsMax),
            configuration.reconnect)
    }

    /// Sets the handler of the pool's events. ``close()`` releases the handler.
    public func start(_ handler: PoolHandler) {
        loop.assertOnLoop()
        self.handler = handler
    }

    /// Sends a push and returns its outcome. Ignores task cancellation.
    ///
    /// - Parameters:
    ///   - priority: from 0 (urgent) to ``prioritiesMax`` - 1. Waiting pushes are sent in order of priority, and a
    ///     part of the streams is reserved for priority 0.
    ///   - onFreshConnection: sends the push as the first push of a new connection. APNs binds a connection to the
    ///     topics that were allowed at its first push. If APNs accepts the push, the pool drains the older connections.
    ///     Otherwise, the pool drains the new connection.
    ///   - timing: receives the times of sending and of the answer.
    public func send(
        _ request: APNSRequest, priority: Int = 0, onFreshConnection: Bool = false, timing: PushTiming? = nil
    ) async -> PushOutcome {
        await withUnsafeContinuation {
            send(
                request, priority: priority, onFreshConnection: onFreshConnection, timing: timing,
                ContinuationPushReceiver($0))
        }
    }

    /// Sends a push, and passes its outcome to the receiver.
    public func send(
        _ request: APNSRequest, priority: Int, onFreshConnection: Bool, timing: PushTiming?,
        _ receiver: any PushReceiver
    ) {
        loop.assertOnLoop()
        let priority = UInt8(min(max(0, priority), Self.prioritiesMax - 1))
        submit(
            Push(
                request: request, receiver: receiver, priority: priority, wantsFreshConnection: onFreshConnection,
                submittedAt: loop.now.monotonic, timing: timing))
    }

    /// Stops accepting pushes, and completes waiting pushes as unsent. A push whose token was refused is completed with
    /// the answer that refused the token. Pushes in flight still wait for their answers.
    public func stopAccepting() {
        loop.assertOnLoop()
        isAccepting = false
        machine.stopAccepting()
        while let push = waiting.popAny() { end(push, .notSent(.draining)) }
        for push in removeTokenless() { end(push, .notSent(.draining)) }
        finishRefused()
        waitTimer.cancel()
        openTimer.cancel()
        if let shrinkTimer { loop.cancel(shrinkTimer) }
        shrinkTimer = nil
    }

    /// Stops accepting pushes, closes all connections, and releases the handler. The outcome of a push in flight
    /// without an answer is `unknown`, or `notSent` if APNs cannot have received the whole request.
    public func close() {
        stopAccepting()
        for connection in connections { connection?.close() }
        handler = PoolHandler()
    }

    /// Number of pushes that wait for a free stream or for a provider token, except pushes whose token was refused.
    public var waitingCount: Int { waiting.count + tokenless.count }

    /// Whether a connection is up and accepts pushes.
    public var isConnected: Bool { machine.isConnected }

    /// Whether APNs has accepted the credential on a connection that is up and accepts pushes.
    public var isAuthenticated: Bool { machine.isAuthenticated }

    var tokenAgeSeconds: Int? {
        tokens?.ageSeconds(loop.now).map { Int($0) }
    }

    /// Number of connections, including those that connect or drain.
    public var connectionCount: Int { connections.reduce(0) { $1 == nil ? $0 : $0 + 1 } }

    private func submit(_ push: Push) {
        guard isAccepting else { return end(push, .notSent(.draining)) }
        guard RequestHeaders.canSend(push.request) else { return end(push, .notSent(.malformed)) }
        if !push.wantsFreshConnection, !waiting.isBefore(priority: push.priority), start(push) { return }
        guard waitingCount < configuration.waitingMax else { return end(push, .notSent(.overloaded)) }
        wait(push)
    }

    /// Starts the push on a connection. Returns false if no connection has a free stream.
    private func start(_ push: Push) -> Bool {
        while let slot = machine.choose(priority: push.priority, loop.now.monotonic) {
            if start(push, on: slot) { return true }
        }
        return false
    }

    /// Starts the push on this connection. Returns false if the connection accepts no more pushes and therefore
    /// drains. Otherwise, the push was sent, was completed, or waits for a token.
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
        metrics.stream.observe(push.submittedAt, now.monotonic)
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

    /// Sends waiting pushes while connections have free streams.
    func sendWaiting() {
        guard !waiting.isEmpty else { return }
        while let priority = waiting.priority, machine.choose(priority: priority, loop.now.monotonic) != nil,
            let push = waiting.popShared()
        {
            if !start(push) { wait(push) }
        }
        openConnections()
    }

    /// Sends the push that the connection was opened for. If no such push waits anymore, allows any push on the
    /// connection. Does nothing while a push is in flight on the connection. APNs binds the connection to the topics
    /// that were allowed at its first push. Further SETTINGS may arrive before the answer to that push.
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

    /// Completes a push as unsent. The reason is `expired` if the push has expired, otherwise `reason`.
    func endUnsent(_ push: Push, _ reason: NotSentReason) {
        end(push, .notSent(push.request.isExpired(unixSeconds: loop.now.unixSeconds) ? .expired : reason))
    }

    /// Completes a push. Must be called exactly once for each push. The receiver is notified later.
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
