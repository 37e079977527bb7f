import APNSProtocol
import Crypto
public import EventLoop
import HTTP2
public import Telemetry

/// Connections to one endpoint of APNs, with one key, on one lane: opens them as they are needed, spreads pushes over
/// them, and replaces those that end.
///
/// Everything happens on the loop's thread. Every push that was given ends with exactly one outcome, within
/// `waitSecondsMax` for each time that it waits for a stream and `requestTimeoutSeconds` for its answer.
public final class APNSPool {
    public let configuration: PoolConfiguration
    public private(set) var statistics = PoolStatistics()
    let answers = AnswerParser()
    private let loop: EventLoop
    private let connector: ByteConnector
    private let log: Log
    private var tokens: TokenSource
    private var reconnect: ReconnectPolicy
    /// Those that drain are among them until they have ended.
    private var connections: [APNSConnection] = []
    private var waiting = WaitingQueue()
    private var block = HeaderBlock()
    private var isAccepting = true
    private var isTokenMissing = false
    private var waitTimer: TimerToken?
    private var connectTimer: TimerToken?

    /// - Parameter connector: opens a connection to the endpoint, over TLS with `h2` agreed; resolves its name anew each
    ///   time.
    public init(loop: EventLoop, connector: ByteConnector, configuration: PoolConfiguration, log: Log = .silent) {
        self.loop = loop
        self.connector = connector
        self.configuration = configuration
        self.log = log
        tokens = TokenSource(key: configuration.key, configuration: configuration.token)
        reconnect = ReconnectPolicy(configuration.reconnect)
    }

    /// Sends a push and waits for what becomes of it. Does not heed cancellation: a push that was sent has an outcome.
    public func send(_ request: PushRequest) async -> PushOutcome {
        loop.assertOnLoop()
        return await withUnsafeContinuation { submit(Push(request, $0)) }
    }

    /// Takes no more pushes and gives back those that wait; answers to those that were sent are still awaited.
    public func stopAccepting() {
        loop.assertOnLoop()
        isAccepting = false
        while let push = waiting.popFirst() { push.finish(.notSent(.draining)) }
        cancel(&waitTimer)
        cancel(&connectTimer)
    }

    /// Ends all connections. Pushes without an answer end as unknown.
    public func close() {
        stopAccepting()
        for connection in connections { connection.close() }
    }

    /// Pushes that wait for a free stream.
    public var waitingCount: Int { waiting.count }

    /// Connections that have not ended.
    public var connectionCount: Int { connections.count }

    private func submit(_ push: Push) {
        guard isAccepting else { return push.finish(.notSent(.draining)) }
        guard RequestHeaders.canSend(push.request) else { return push.finish(.notSent(.malformed)) }
        if waiting.isEmpty, start(push) { return }
        guard waiting.count < configuration.waitingMax else { return push.finish(.notSent(.overloaded)) }
        wait(push)
    }

    /// Gives the push to a connection; false when none has a stream free.
    private func start(_ push: Push) -> Bool {
        while let connection = choose() {
            let token = tokens.token(forNewConnection: !connection.hasToken, loop.now, random: loop.nextRandom)
            guard let token else {
                logMissingToken()
                push.finish(.notSent(.noToken))
                return true
            }
            isTokenMissing = false
            if connection.start(push, newest: token, block: &block) {
                statistics.sent += 1
                return true
            }
        }
        return false
    }

    /// Once until there is a token again: every push would say the same.
    private func logMissingToken() {
        guard !isTokenMissing else { return }
        isTokenMissing = true
        log.error(
            "No provider token can be made",
            [
                .apnsKeyID: .string(configuration.key.keyID), .apnsTeamID: .string(configuration.key.teamID),
                .error: .string(tokens.error?.message ?? "the last one is too old, and the next may not be made yet"),
            ])
    }

    private func choose() -> APNSConnection? {
        var choice = ConnectionChoice()
        for index in connections.indices { choice.consider(index: index, connections[index].gate) }
        return choice.index.map { connections[$0] }
    }

    private func wait(_ push: Push) {
        guard isAccepting else { return push.finish(.notSent(.draining)) }
        waiting.add(push, deadline: loop.now.monotonic + .seconds(configuration.waitSecondsMax))
        if waitTimer == nil { armWaitTimer() }
        openConnection()
    }

    private func armWaitTimer() {
        guard let deadline = waiting.next else { return }
        waitTimer = loop.schedule(at: deadline) { [self] in
            waitTimer = nil
            while let deadline = waiting.next, deadline <= loop.now.monotonic, let push = waiting.popFirst() {
                push.finish(.notSent(.noConnection))
            }
            armWaitTimer()
        }
    }

    /// Gives what waits to the connections as far as they take it.
    func sendWaiting() {
        while choose() != nil, let push = waiting.popFirst() {
            if !start(push) { wait(push) }
        }
        if !waiting.isEmpty { openConnection() }
    }

    /// Opens a connection if none is about to take pushes and there is room for one more; not sooner than the reconnect
    /// policy lets it.
    private func openConnection() {
        guard isAccepting, connectTimer == nil else { return }
        var serving = 0
        for connection in connections where connection.gate.isServing {
            guard connection.gate.phase == .open else { return }
            serving += 1
        }
        guard serving < max(1, configuration.connectionsMax) else { return }
        let now = loop.now.monotonic
        let time = reconnect.nextConnect(now)
        guard time <= now else {
            connectTimer = loop.schedule(at: time) { [self] in
                connectTimer = nil
                if !waiting.isEmpty { openConnection() }
            }
            return
        }
        reconnect.connectBegan(now)
        statistics.connects += 1
        let connection = APNSConnection(
            number: statistics.connects, pool: self, loop: loop, configuration: configuration)
        connections.append(connection)
        connection.open(through: connector)
    }

    func connectionTakesPushes(_ connection: APNSConnection, streamsMax: Int?) {
        log.debug(
            "APNs announced its settings",
            [
                .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                .apnsStreamsMax: .integer(streamsMax ?? -1),
            ])
        sendWaiting()
    }

    func connectionProvedItself() {
        reconnect.succeeded()
    }

    /// A replacement is opened while the last answers are still awaited.
    func connectionDrains(_ connection: APNSConnection) {
        if connection.gate.inFlight > 0 || !waiting.isEmpty { openConnection() }
    }

    func connectionClosed(_ connection: APNSConnection, _ error: TransportError?, goAwayReason: String?) {
        connections.removeAll { $0 === connection }
        if !connection.hasProvedItself { reconnect.failed(loop.now.monotonic, random: loop.nextRandom()) }
        if isAccepting {
            log.write(
                connection.hasProvedItself ? .info : .warning, "The connection to APNs has ended",
                [
                    .apnsHost: .string(configuration.authority), .apnsConnection: .integer(connection.number),
                    .apnsReason: .string(goAwayReason ?? "none"),
                    .error: .string(error?.message ?? "none"),
                ])
        }
        sendWaiting()
    }

    func answered(_ push: Push, _ answer: PushAnswer, tokenGeneration: Int, by connection: APNSConnection) {
        statistics.answered += 1
        guard answer.status != 200 else { return push.finish(.answered(answer)) }
        let verdict = AnswerVerdict(status: answer.status, reason: answer.reason)
        if verdict.replacesConnection { connection.drain() }
        if isSentAgain(push, after: verdict, tokenGeneration) {
            var push = push
            push.wasRefreshed = push.wasRefreshed || verdict.action == .refresh
            push.refusals += 1
            statistics.resent += 1
            return wait(push)
        }
        push.finish(.answered(answer))
    }

    /// Answers that another connection or token mends at once, and that say that the push was not processed.
    private func isSentAgain(_ push: Push, after verdict: AnswerVerdict, _ tokenGeneration: Int) -> Bool {
        switch verdict.action {
        case .refresh:
            guard !push.wasRefreshed else { return false }
            return tokens.expired(generation: tokenGeneration, loop.now, random: loop.nextRandom) != .giveUp
        case .reconnect:
            return push.refusals < configuration.resendsMax
        case .ok, .deadLetter, .prune, .suspect, .configuration, .backOff:
            return false
        }
    }

    func refusedUnprocessed(_ push: Push) {
        guard push.refusals < configuration.resendsMax else { return push.finish(.notSent(.refused)) }
        var push = push
        push.refusals += 1
        statistics.resent += 1
        wait(push)
    }

    func outcomeUnknown(_ push: Push, _ reason: UnknownReason) {
        statistics.unknown += 1
        push.finish(.unknown(reason))
    }

    func answeredTooLate() {
        statistics.endedLate += 1
    }

    private func cancel(_ timer: inout TimerToken?) {
        if let token = timer { loop.cancel(token) }
        timer = nil
    }
}
