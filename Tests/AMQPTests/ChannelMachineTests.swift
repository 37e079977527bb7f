import EventLoop
import Testing

@testable import AMQP

/// The life of a channel as a transcript of events and actions.
@Suite struct ChannelMachineTests {
    private static let gone = AMQPError(.connectionLost, "gone")
    private static let missing = AMQPError(replyCode: 404, replyText: "NOT_FOUND - no queue 'q' in vhost '/'")
    private static let canceled = AMQPError(.consumerCancelled, "canceled")
    private static let full = AMQPError(.timedOut, "full")

    private static func late(_ seconds: Int) -> AMQPError {
        AMQPError(.timedOut, "the broker did not answer within \(seconds) s")
    }

    private static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: milliseconds * 1_000_000)
    }

    /// Returns the retry that follows a failure at `milliseconds`, after the minimum delay of 100 ms.
    private static func retry(_ error: AMQPError, at milliseconds: Int64 = 0) -> Retry {
        Retry(error: error, delay: .milliseconds(100), at: time(milliseconds + 100))
    }

    /// A machine with a clock. Its random numbers are 0, so each retry delay is the minimum.
    private struct Script {
        var machine: ChannelMachine
        var now = MonotonicTime(nanoseconds: 0)
        var reopens = true

        init(_ options: ChannelOptions = ChannelOptions(bodyBytesMax: 1, closeSecondsMax: 3)) {
            let credentials = AMQPCredentials(user: "guest", password: "guest")
            machine = ChannelMachine(options, ConnectionConfiguration(credentials: credentials))
        }

        mutating func expect(
            _ event: ChannelMachine.Event, _ actions: [ChannelMachine.Action], _ state: ChannelMachine.State,
            sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let performed = machine.handle(event, reopens: reopens, now: now, random: { 0 })
            #expect(performed == actions, sourceLocation: sourceLocation)
            #expect(machine.state == state, sourceLocation: sourceLocation)
        }

        mutating func play(_ events: ChannelMachine.Event...) {
            for event in events { _ = machine.handle(event, reopens: reopens, now: now, random: { 0 }) }
        }

        mutating func open() { play(.connectionOpened, .openAnswered, .setupCompleted) }
    }

    private static let opening: [ChannelMachine.Action] = [.send(.channelOpen), .armDeadline(seconds: 15), .report]
    private static let end: [ChannelMachine.Action] = [.cancelDeadline, .cancelRetry, .detach, .report]

    @Test func openingAndClosing() {
        var script = Script()
        script.expect(.connectionOpened, Self.opening, .opening)
        script.expect(.openAnswered, [.setUp], .settingUp)
        script.expect(.setupCompleted, [.cancelDeadline, .report], .open)
        script.expect(
            .close(deadlineSeconds: 5),
            [.send(.channelClose), .armDeadline(seconds: 5), .lose(ConnectionMachine.closedByUs)],
            .closing(then: .never))
        script.expect(.close(deadlineSeconds: 1), [], .closing(then: .never))
        script.expect(.closeAnswered, Self.end, .closed)
    }

    @Test func aChannelThatTheBrokerClosesIsOpenedAfterADelay() {
        var script = Script()
        script.open()
        script.expect(
            .closedByBroker(Self.missing),
            [.send(.channelCloseOK), .cancelDeadline, .armRetry(Self.time(100)), .lose(Self.missing), .report],
            .reopening(Self.retry(Self.missing)))
        script.expect(.connectionOpened, [], .reopening(Self.retry(Self.missing)))
        script.expect(.retryDue, Self.opening, .opening)
        script.expect(.retryDue, [], .opening)
    }

    @Test func administrationReopensImmediately() {
        var script = Script(ChannelOptions(bodyBytesMax: 1, reopensImmediately: true))
        script.open()
        script.expect(
            .closedByBroker(Self.missing),
            [
                .send(.channelCloseOK), .send(.channelOpen), .armDeadline(seconds: 15), .lose(Self.missing), .report,
            ], .opening)
    }

    @Test func anAbandonedChannelReopensOnceItIsDueAndClosed() {
        var script = Script()
        script.open()
        let leaving: [ChannelMachine.Action] = [
            .send(.channelClose), .armDeadline(seconds: 3), .armRetry(Self.time(100)), .lose(Self.full), .report,
        ]
        script.expect(.abandon(Self.full), leaving, .closing(then: .after(Self.retry(Self.full))))
        script.expect(.abandon(Self.gone), [], .closing(then: .after(Self.retry(Self.full))))
        script.expect(
            .closedByBroker(Self.missing), [.send(.channelCloseOK)], .closing(then: .after(Self.retry(Self.full))))
        script.expect(.closeAnswered, [.cancelDeadline], .reopening(Self.retry(Self.full)))
        script.expect(.retryDue, Self.opening, .opening)

        script = Script()
        script.open()
        script.expect(.abandon(Self.full), leaving, .closing(then: .after(Self.retry(Self.full))))
        script.now = Self.time(100)
        script.expect(.retryDue, [], .closing(then: .after(Self.retry(Self.full))))
        script.expect(.closeAnswered, Self.opening, .opening)
    }

    @Test func aChannelThatIsNotOpenYetLosesNothing() {
        var script = Script()
        script.play(.connectionOpened)
        script.expect(
            .deadlinePassed(isPaused: true), [.armDeadline(seconds: 15)], .opening)
        script.expect(
            .deadlinePassed(isPaused: false),
            [.send(.channelClose), .armDeadline(seconds: 3), .armRetry(Self.time(100)), .report],
            .closing(then: .after(Self.retry(Self.late(15)))))
        script.expect(
            .deadlinePassed(isPaused: true), [.armDeadline(seconds: 3)],
            .closing(then: .after(Self.retry(Self.late(15)))))
        script.expect(
            .deadlinePassed(isPaused: false), [.failConnection(Self.late(3))],
            .closing(then: .after(Self.retry(Self.late(15)))))
        script.expect(.connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .report], .detached)
    }

    @Test func aRenewedChannelReopensImmediately() {
        var script = Script()
        script.play(.connectionOpened, .openAnswered)
        script.expect(.renew(Self.full), [], .settingUp)
        script.play(.setupCompleted)
        script.expect(
            .renew(Self.full), [.send(.channelClose), .armDeadline(seconds: 3), .lose(Self.full), .report],
            .closing(then: .atOnce))
        script.expect(.closeAnswered, Self.opening, .opening)
    }

    // The consumer's queue was deleted.
    @Test func anInterruptedChannelStaysOpen() {
        var script = Script()
        script.open()
        script.expect(.interrupted(Self.canceled), [.report], .interrupted(Self.retry(Self.canceled)))
        #expect(script.machine.isOpen && script.machine.isSetUp)
        script.now = Self.time(300)
        script.expect(.interrupted(Self.canceled), [.report], .interrupted(Self.retry(Self.canceled, at: 300)))
        script.expect(.setupCompleted, [.cancelDeadline, .report], .open)
        script.play(.interrupted(Self.canceled))
        script.expect(
            .connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .lose(Self.gone), .report], .detached)
        script.expect(.interrupted(Self.canceled), [], .detached)
    }

    @Test func aLostConnectionLosesTheChannel() {
        var script = Script()
        script.expect(.connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .report], .detached)
        script.expect(.connectionOpened, Self.opening, .opening)
        script.expect(.connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .report], .detached)
        script.play(.connectionOpened, .openAnswered)
        script.expect(
            .connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .lose(Self.gone), .report], .detached)
        script.open()
        script.expect(
            .connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .lose(Self.gone), .report], .detached)
        script.expect(.connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .report], .detached)
    }

    @Test func aConnectionMayCarryTooFewChannels() {
        var script = Script()
        let few = AMQPError(.refused, "too few", isRetriable: false)
        script.expect(.connectionRefused(few), [.report], .refused(few))
        script.expect(.connectionLost(Self.gone), [.cancelDeadline, .cancelRetry, .report], .detached)
        script.expect(.connectionRefused(few), [.report], .refused(few))
        script.expect(.close(deadlineSeconds: 5), Self.end, .closed)
    }

    @Test func channelsThatAreNotOpenCloseImmediately() {
        var script = Script()
        script.expect(.close(deadlineSeconds: 5), Self.end, .closed)
        script = Script()
        script.open()
        script.play(.closedByBroker(Self.missing))
        script.expect(.close(deadlineSeconds: 5), Self.end, .closed)
        script = Script()
        script.play(.connectionOpened)
        script.expect(
            .close(deadlineSeconds: 5), [.send(.channelClose), .armDeadline(seconds: 5)], .closing(then: .never))
        script.expect(.connectionLost(Self.gone), Self.end, .closed)
    }

    @Test func anAbandonedChannelIsClosedByItsAnswer() {
        var script = Script()
        script.open()
        script.play(.abandon(Self.full))
        script.expect(
            .close(deadlineSeconds: 5), [.cancelRetry, .armDeadline(seconds: 5)], .closing(then: .never))
        script.expect(.closeAnswered, Self.end, .closed)
    }

    // The channel number is released only after the broker's answer.
    @Test func aCloseWithoutAnAnswerEndsForTheUser() {
        var script = Script()
        script.open()
        script.play(.close(deadlineSeconds: 5))
        script.expect(.deadlinePassed(isPaused: true), [.report], .unanswered)
        script.expect(.closedByBroker(Self.missing), [.send(.channelCloseOK)], .unanswered)
        script.expect(.close(deadlineSeconds: 5), [], .unanswered)
        script.expect(.closeAnswered, Self.end, .closed)
        script = Script()
        script.open()
        script.play(.close(deadlineSeconds: 5), .deadlinePassed(isPaused: false))
        script.expect(.connectionLost(Self.gone), Self.end, .closed)
    }

    @Test func noChannelOpensWhileTheConnectionCloses() {
        var script = Script()
        script.open()
        script.reopens = false
        script.expect(.abandon(Self.full), [], .open)
        script.expect(.deadlinePassed(isPaused: false), [], .open)
        script.expect(
            .closedByBroker(Self.missing), [.send(.channelCloseOK), .cancelDeadline, .lose(Self.missing)], .detached)
        script.expect(.connectionReleased, Self.end, .closed)
        script = Script()
        script.open()
        script.play(.renew(Self.full))
        script.reopens = false
        script.expect(.closeAnswered, [.cancelDeadline, .cancelRetry], .detached)
    }

    private static let events: [ChannelMachine.Event] = [
        .connectionOpened, .connectionRefused(gone), .connectionLost(gone), .openAnswered, .setupCompleted,
        .closedByBroker(missing), .closeAnswered, .interrupted(canceled), .abandon(full), .renew(full),
        .deadlinePassed(isPaused: false), .deadlinePassed(isPaused: true), .retryDue,
    ]

    @Test func aClosedChannelIgnoresEvents() {
        var script = Script()
        script.expect(.connectionReleased, Self.end, .closed)
        for event in Self.events + [.connectionReleased, .close(deadlineSeconds: 5)] {
            script.expect(event, [], .closed)
        }
    }

    // With events in any order, a channel that waits for the broker has a deadline. A channel that will reopen has a
    // retry timer. The channel reports each loss once, and its own end once.
    @Test(arguments: UInt64(0)..<200) func everyStateHasAnEventToWaitFor(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var script = Script()
        var (retryAt, isDeadlineArmed, ends) = (MonotonicTime?.none, false, 0)
        for step in 0..<400 {
            let isLast = step > 300 && random.below(20) == 0
            script.now = Self.time(Int64(step) * 20)
            var event = isLast ? .close(deadlineSeconds: 5) : Self.events[random.below(Self.events.count)]
            // A timer fires only while it is armed, and the retry timer never fires early.
            if case .retryDue = event, retryAt.map({ $0 > script.now }) ?? true { event = .connectionOpened }
            if case .deadlinePassed = event, !isDeadlineArmed { event = .openAnswered }
            if case .retryDue = event { retryAt = nil }
            if case .deadlinePassed = event { isDeadlineArmed = false }
            let wasOpen = script.machine.isOpen
            var losses = 0
            var isConnectionFailed = false
            for action in script.machine.handle(event, reopens: true, now: script.now, random: { 0 }) {
                switch action {
                case .armRetry(let time): retryAt = time
                case .armDeadline: isDeadlineArmed = true
                case .cancelRetry: retryAt = nil
                case .cancelDeadline: isDeadlineArmed = false
                case .lose: losses += 1
                case .detach: ends += 1
                case .failConnection: isConnectionFailed = true
                case .send, .setUp, .report: break
                }
            }
            #expect(losses == (wasOpen && !script.machine.isOpen ? 1 : 0))
            if isConnectionFailed {
                _ = script.machine.handle(.connectionLost(Self.gone), reopens: true, now: script.now, random: { 0 })
                (retryAt, isDeadlineArmed) = (nil, false)
            }
            switch script.machine.state {
            case .idle, .detached, .open, .interrupted, .refused, .unanswered: break
            case .opening, .settingUp, .closing: #expect(isDeadlineArmed, "\(script.machine.state)")
            case .reopening(let retry): #expect(retryAt == retry.at)
            case .closed: #expect(ends == 1 && retryAt == nil && !isDeadlineArmed)
            }
        }
    }
}
