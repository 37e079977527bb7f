import AMQP
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import JSON
import Telemetry

/// The base class of the receivers of changes of the fleet's pauses.
///
/// `@unchecked Sendable`: only the control loop uses the object.
class FleetPausesHandler: @unchecked Sendable {
    /// Handles the permission to consume requests. ``FleetPauses`` calls the method at most once after each `start`.
    /// The time is that of the first record, or the deadline of the wait for it.
    func mayConsume() {}

    /// Handles a change of the pauses, of their revision, or of the lanes that have applied them.
    func pausesChanged() {}
}

/// The pauses of the fleet in this worker. Reads the newest record of pauses, and applies it. Runs on the control loop.
final class FleetPauses: StreamReaderHandler {
    private let control: PauseControl
    private let loop: EventLoop
    private let log: Log
    private let commands: CommandAdvice
    /// The state; nil without fleet control.
    private var state: PauseState?
    private var timer: TimerToken?
    /// The problem that the log has reported last.
    private var loggedProblem: String?
    private weak var handler: FleetPausesHandler?
    private var search = RecordSearch()
    private var searchTimer: TimerToken?
    /// The newest record that the search has found and that is not applied, because a newer one may follow.
    private var found: PauseRecord?
    /// The reader of the stream at the current broker.
    weak var reader: StreamReader?
    /// The exchange of operators. Records from other exchanges are ignored, because a producer that may publish to the
    /// default exchange can put messages into the stream.
    var exchange = ""

    init(_ control: PauseControl, in environment: LaneEnvironment) {
        self.control = control
        (loop, log, commands) = (environment.loop, environment.log, environment.commands)
    }

    /// Begins the wait for the first record.
    func start(_ handler: FleetPausesHandler) {
        self.handler = handler
        var state = PauseState(startedAt: loop.now.monotonic)
        let actions = state.start()
        self.state = state
        perform(actions)
    }

    var revision: PauseRevision? { state?.revision }

    /// The state of fleet control for the worker's status; nil without fleet control.
    var status: WorkerStatus.Fleet? {
        state.map { WorkerStatus.Fleet(pausesRevision: $0.revision?.number, reason: problem) }
    }

    /// The reason why the worker does not consume requests yet; nil if it may.
    var waitReason: String? { state.flatMap { $0.mayConsume ? nil : problem } }

    private var problem: String? { state?.problem.map { commands.completed($0) } }

    /// Ends all pauses of the fleet, because the configuration no longer has fleet control.
    func end() {
        if let timer { loop.cancel(timer) }
        timer = nil
        for pause in state?.inForce ?? [] { control.setForFleet(pause.scope, nil, since: loop.now.monotonic) }
        (state, loggedProblem) = (nil, nil)
    }

    override func position() -> StreamPosition { search.begin() }

    override func attached() { handle(.attached) }

    override func received(_ message: consuming StreamMessage) {
        let record = record(of: message)
        search.messageRead(at: message.offset, isRecord: record != nil)
        if let record { found = record }
        if search.isComplete, let record = found.take() { handle(.recordRead(record)) }
        guard let wait = search.waitMilliseconds, searchTimer == nil else { return }
        searchTimer = loop.schedule(after: .milliseconds(wait)) { [self] in
            searchTimer = nil
            if search.continueBefore() { reader?.restart() }
        }
    }

    /// Returns the record of an operator; nil for another message or an invalid record. The broker verifies the
    /// property `user-id`.
    private func record(of message: borrowing StreamMessage) -> PauseRecord? {
        guard message.exchange == exchange, message.properties.userID != nil else { return nil }
        do throws(InputError) {
            return try PauseRecord(json: message.body)
        } catch {
            log.warning(.fleetRecordRefused, [.error: .string(error.message)])
            return nil
        }
    }

    override func detached(_ reason: AMQPError) {
        if let timer = searchTimer.take() { loop.cancel(timer) }
        handle(.detached(reason: reason.message))
    }

    override func statusChanged(_ status: BrokerStatus) {
        if case .waiting(let error, _) = status { handle(.detached(reason: error.message)) }
    }

    private func handle(_ event: PauseState.Event) {
        guard let actions = state?.handle(event, now: loop.now) else { return }
        perform(actions)
        logProblem()
    }

    private func perform(_ actions: [PauseState.Action]) {
        for action in actions {
            switch action {
            case .pause(let scope, let note): setPause(of: scope, note)
            case .resume(let scope): control.setForFleet(scope, nil, since: loop.now.monotonic)
            case .mayConsume: handler?.mayConsume()
            case .report: handler?.pausesChanged()
            case .setTimer(let time):
                if let timer { loop.cancel(timer) }
                timer = time.map { loop.schedule(at: $0) { [self] in handle(.timerFired) } }
            }
        }
    }

    /// Pauses a scope since the time of its operator's wall clock, but not since a time in the future.
    private func setPause(of scope: PauseScope, _ note: PauseNote) {
        let now = loop.now
        let pause = state?.inForce.first { $0.scope == scope }
        let since = now.monotonic - .milliseconds(max(0, now.unixMilliseconds - (pause?.since ?? now.unixMilliseconds)))
        control.setForFleet(scope, note, since: since, until: pause?.until)
    }

    /// Logs the beginning and the end of a problem, but not the wait at the start.
    private func logProblem() {
        let problem = state?.mayConsume == true ? self.problem : nil
        guard (problem == nil) != (loggedProblem == nil) else { return }
        loggedProblem = problem
        if let problem {
            log.warning(.fleetUnavailable, [.error: .string(problem)])
        } else {
            log.info(.fleetAvailable, [:])
        }
    }
}
