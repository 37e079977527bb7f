import EventLoop
import Testing

@testable import AMQP

/// The life of a connection as a transcript of events and actions.
@Suite struct ConnectionMachineTests {
    private static let one = Endpoint(host: "one", port: 5672)
    private static let two = Endpoint(host: "two", port: 5671)
    private static let tuning = Handshake.Tuning(channelMax: 256, frameBytesMax: 131_072, heartbeatSeconds: 30)
    private static let start = Handshake.Event.start(versionMajor: 0, versionMinor: 9, mechanisms: "PLAIN")
    private static let lost = AMQPError(.connectionLost, "reset")

    private static var configuration: ConnectionConfiguration {
        var configuration = ConnectionConfiguration(credentials: AMQPCredentials(user: "worker", password: "secret"))
        configuration.openingDeadlineSeconds = 15
        return configuration
    }

    /// A machine with a clock. Its random numbers are 0, so each retry delay is the minimum.
    private struct Script {
        var machine: ConnectionMachine
        var now = MonotonicTime(nanoseconds: 0)

        init(_ configuration: ConnectionConfiguration = configuration, endpoints: [Endpoint] = [one, two]) {
            machine = ConnectionMachine(configuration: configuration, endpoints: endpoints)
        }

        mutating func expect(
            _ event: ConnectionMachine.Event, _ actions: [ConnectionMachine.Action], _ state: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let performed = machine.handle(event, now: now, random: { 0 })
            #expect(performed == actions, sourceLocation: sourceLocation)
            #expect(text == state, sourceLocation: sourceLocation)
        }

        var text: String {
            switch machine.state {
            case .idle: "idle"
            case .connecting(let endpoint): "connecting \(endpoint)"
            case .loggingIn(let endpoint, let handshake): "logging in \(endpoint) \(handshake.state)"
            case .open(let endpoint, blocked: let reason): "open \(endpoint)" + (reason.map { " blocked: \($0)" } ?? "")
            case .closing: "closing"
            case .waiting(let retry): "waiting: \(retry.error.message)"
            case .closed: "closed"
            }
        }

        mutating func open() {
            for event: ConnectionMachine.Event in [
                .start, .streamOpened, .login(ConnectionMachineTests.start), .login(.tune(tuning)), .login(.openOK),
            ] {
                _ = machine.handle(event, now: now, random: { 0 })
            }
        }
    }

    private static func milliseconds(_ count: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: count * 1_000_000) }

    @Test func theLogin() {
        var script = Script()
        script.expect(.start, [.connect(0), .report], "connecting one:5672")
        script.expect(.start, [], "connecting one:5672")
        script.expect(.streamOpened, [.armDeadline(seconds: 15)], "logging in one:5672 awaitingStart")
        script.expect(
            .login(Self.start), [.send(Self.configuration.startOK(.plain))], "logging in one:5672 awaitingTune")
        script.expect(
            .login(.tune(Self.tuning)),
            [.agree(Self.tuning), .send(.connectionTuneOK(Self.tuning)), .send(.connectionOpen(virtualHost: "/"))],
            "logging in one:5672 awaitingOpenOK")
        script.expect(.login(.openOK), [.cancelTimers, .openChannels, .report], "open one:5672")
        script.expect(.blocked("low on memory"), [.report, .reviewChannels], "open one:5672 blocked: low on memory")
        script.expect(.blocked(nil), [.report, .reviewChannels], "open one:5672")
    }

    @Test func aLostConnectionReopensAtTheNextEndpoint() {
        var script = Script()
        script.open()
        let error = AMQPError(.connectionLost, "the connection to one:5672 was lost: reset")
        script.expect(
            .streamEnded(Self.lost),
            [.cancelTimers, .armRetry(Self.milliseconds(100)), .loseChannels(error), .report],
            "waiting: the connection to one:5672 was lost: reset")
        script.expect(.deadlinePassed, [], "waiting: the connection to one:5672 was lost: reset")
        script.expect(.retryDue, [.connect(1), .report], "connecting two:5671")
        let refused = AMQPError(.cannotConnect, "cannot connect to two:5671: refused")
        script.expect(
            .streamEnded(AMQPError(.connectionLost, "two:5671: refused")),
            [.cancelTimers, .armRetry(Self.milliseconds(100)), .loseChannels(refused), .report],
            "waiting: cannot connect to two:5671: refused")
        script.expect(.retryDue, [.connect(0), .report], "connecting one:5672")
    }

    @Test func aRefusedLoginWaitsForAnOperator() {
        var script = Script()
        script.expect(.start, [.connect(0), .report], "connecting one:5672")
        script.expect(.streamOpened, [.armDeadline(seconds: 15)], "logging in one:5672 awaitingStart")
        _ = script.machine.handle(.login(Self.start), now: script.now, random: { 0 })
        let refusal = AMQPError(replyCode: 403, replyText: "ACCESS_REFUSED")
        script.expect(
            .closedByBroker(refusal), [.send(.connectionCloseOK), .finish(refusal)], "logging in one:5672 awaitingTune")
        let error = refusal.with("cannot log in at one:5672 as worker: ACCESS_REFUSED")
        script.expect(
            .streamEnded(refusal),
            [.cancelTimers, .armRetry(Self.milliseconds(15_000)), .loseChannels(error), .report],
            "waiting: cannot log in at one:5672 as worker: ACCESS_REFUSED")
    }

    @Test func anUnansweredLoginResetsTheStream() {
        var script = Script()
        script.expect(.start, [.connect(0), .report], "connecting one:5672")
        script.expect(.deadlinePassed, [], "connecting one:5672")
        script.expect(.streamOpened, [.armDeadline(seconds: 15)], "logging in one:5672 awaitingStart")
        script.expect(
            .deadlinePassed, [.reset(AMQPError(.timedOut, "the broker did not answer within 15 s"))],
            "logging in one:5672 awaitingStart")
    }

    @Test func methodsOutOfOrderEndTheStream() {
        let order = AMQPError(.protocolViolation, "the broker sent a login method out of order", isRetriable: false)
        let method = AMQPError(.protocolViolation, "the broker sent a method out of order")
        var script = Script()
        _ = script.machine.handle(.start, now: script.now, random: { 0 })
        _ = script.machine.handle(.streamOpened, now: script.now, random: { 0 })
        script.expect(.closeAnswered, [.reset(method)], "logging in one:5672 awaitingStart")
        script.expect(.blocked("early"), [], "logging in one:5672 awaitingStart")
        script.expect(.login(.openOK), [.reset(order)], "logging in one:5672 failed")
        script = Script()
        script.open()
        script.expect(.login(Self.start), [.reset(order)], "open one:5672")
        script.expect(.closeAnswered, [.reset(method)], "open one:5672")
    }

    @Test func gracefulClose() {
        var script = Script()
        script.open()
        script.expect(
            .close(deadlineSeconds: 5),
            [.cancelTimers, .flushChannels, .armDeadline(seconds: 5), .send(.connectionClose), .resumeReading],
            "closing")
        script.expect(.close(deadlineSeconds: 1), [], "closing")
        script.expect(.blocked("late"), [], "closing")
        script.expect(.closeAnswered, [.finish(ConnectionMachine.closedByUs)], "closing")
        script.expect(
            .streamEnded(Self.lost), [.cancelTimers, .loseChannels(ConnectionMachine.closedByUs), .release], "closed")
        for event: ConnectionMachine.Event in [
            .start, .streamOpened, .retryDue, .deadlinePassed, .close(deadlineSeconds: 1), .streamEnded(Self.lost),
        ] {
            script.expect(event, [], "closed")
        }
    }

    @Test func anUnansweredCloseResetsTheStream() {
        var script = Script()
        script.open()
        _ = script.machine.handle(.close(deadlineSeconds: 5), now: script.now, random: { 0 })
        script.expect(
            .deadlinePassed, [.reset(AMQPError(.timedOut, "the broker did not answer the close"))], "closing")
    }

    @Test func bothSidesMayCloseAtTheSameTime() {
        var script = Script()
        script.open()
        _ = script.machine.handle(.close(deadlineSeconds: 5), now: script.now, random: { 0 })
        let forced = AMQPError(replyCode: 320, replyText: "CONNECTION_FORCED")
        script.expect(.closedByBroker(forced), [.send(.connectionCloseOK), .finish(forced)], "closing")
        script.expect(
            .streamEnded(forced), [.cancelTimers, .loseChannels(ConnectionMachine.closedByUs), .release], "closed")
    }

    @Test func aConnectionThatIsNotOpenClosesImmediately() {
        var script = Script()
        script.expect(.close(deadlineSeconds: 5), [.cancelTimers, .release], "closed")
        for openings in 1...2 {
            script = Script()
            for event in [ConnectionMachine.Event.start, .streamOpened].prefix(openings) {
                _ = script.machine.handle(event, now: script.now, random: { 0 })
            }
            script.expect(
                .close(deadlineSeconds: 5),
                [.cancelTimers, .flushChannels, .armDeadline(seconds: 5), .reset(ConnectionMachine.closedByUs)],
                "closing")
        }
        script = Script()
        script.open()
        _ = script.machine.handle(.streamEnded(Self.lost), now: script.now, random: { 0 })
        script.expect(.close(deadlineSeconds: 5), [.cancelTimers, .release], "closed")
    }

    /// The error of a failed connection, for each phase in which the connection can fail.
    @Test(arguments: [
        (0, "broker:15672: refused", "cannotConnect", "cannot connect to broker:15672: refused"),
        (
            1, "gone", "cannotConnect",
            "cannot log in at broker:15672 as worker: gone; "
                + "check that 15672 is the AMQP port (5672, or 5671 with amqps://)"
        ),
        (2, "gone", "cannotConnect", "cannot log in at broker:15672 as worker: gone"),
        (4, "gone", "connectionLost", "the connection to broker:15672 was lost: gone"),
    ]) func anErrorNamesThePhaseOfTheConnection(steps: Int, reason: String, code: String, message: String) {
        var script = Script(endpoints: [Endpoint(host: "broker", port: 15672)])
        let events: [ConnectionMachine.Event] = [
            .start, .streamOpened, .login(Self.start), .login(.tune(Self.tuning)), .login(.openOK),
        ]
        for event in events[...steps] { _ = script.machine.handle(event, now: script.now, random: { 0 }) }
        let error = script.machine.inContext(AMQPError(.connectionLost, reason))
        #expect("\(error.code)" == code)
        #expect(error.message == message)
    }

    @Test func aLoginByCertificateIsNamed() {
        var configuration = Self.configuration
        configuration.prefersCertificate = true
        var script = Script(configuration)
        let start = Handshake.Event.start(versionMajor: 0, versionMinor: 9, mechanisms: "PLAIN EXTERNAL")
        for event: ConnectionMachine.Event in [.start, .streamOpened, .login(start)] {
            _ = script.machine.handle(event, now: script.now, random: { 0 })
        }
        #expect(
            script.machine.inContext(AMQPError(.timedOut, "late")).message
                == "cannot log in at one:5672 by certificate: late")
    }

    // With events in any order, a connection always has a timer or an event to wait for, and ends once.
    @Test(arguments: UInt64(0)..<200) func everyStateHasAnEventToWaitFor(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = ConnectionMachine(configuration: Self.configuration, endpoints: [Self.one, Self.two])
        var (isRetryArmed, isDeadlineArmed, isStreamOpen, isStreamEnding, releases) = (false, false, false, false, 0)
        for step in 0..<400 {
            let isLast = step > 300 && random.below(20) == 0
            // Events of a stream arrive only while the stream exists, and events of a timer only while it is armed.
            var events: [ConnectionMachine.Event] = [.start]
            if isRetryArmed { events.append(.retryDue) }
            if isDeadlineArmed { events.append(.deadlinePassed) }
            if isStreamOpen { events.append(.streamEnded(Self.lost)) }
            if isStreamOpen, !isStreamEnding {
                events += [
                    .streamOpened, .login(Self.start), .login(.tune(Self.tuning)), .login(.openOK), .blocked("x"),
                    .closeAnswered, .closedByBroker(Self.lost),
                ]
            }
            let event = isLast ? .close(deadlineSeconds: 5) : events[random.below(events.count)]
            if case .retryDue = event { isRetryArmed = false }
            if case .deadlinePassed = event { isDeadlineArmed = false }
            if case .streamEnded = event { isStreamOpen = false }
            for action in machine.handle(event, now: Self.milliseconds(Int64(step)), random: { 0 }) {
                switch action {
                case .connect: (isStreamOpen, isStreamEnding) = (true, false)
                case .armRetry: isRetryArmed = true
                case .armDeadline: isDeadlineArmed = true
                case .cancelTimers: (isRetryArmed, isDeadlineArmed) = (false, false)
                case .reset, .finish: isStreamEnding = true
                case .release: releases += 1
                default: break
                }
            }
            switch machine.state {
            case .idle, .open: break
            case .connecting: #expect(isStreamOpen)
            case .loggingIn, .closing: #expect(isStreamOpen && (isDeadlineArmed || isStreamEnding))
            case .waiting: #expect(isRetryArmed && !isStreamOpen)
            case .closed: #expect(releases == 1 && !isStreamOpen && !isRetryArmed && !isDeadlineArmed)
            }
        }
    }
}
