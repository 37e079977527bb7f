import AMQP
import Actions
import AdminHTTP
import BrokerManagement
import BrokerTopology
import Configuration
import ControlProtocol
import Crypto
import EventLoop
import Text

/// Runs the actions of operators, and keeps their records in the audit. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class ActionRunner: @unchecked Sendable {
    private static let testsPerMinute = 10
    private static let minute: Duration = .seconds(60)
    /// Maximum number of problems that the result of a probe names.
    private static let problemsMax = 3
    /// Maximum time for which a closing console waits for running actions. It is a part of `TimeoutStopSec=` in
    /// `deploy/systemd/martlet-console.service`.
    private static let closeMilliseconds = 10_000
    static let endSentence = "the console has ended"

    struct Job {
        let request: ActionRequest
        let plan: ActionPlan
        let login: Operator
        let id: UUIDValue
        /// The revision of the pauses on which the plan depends.
        let revision: PauseRevision?

        fileprivate var track: Track {
            if case .probe = request.action { .probes } else { .others }
        }
    }

    /// Actions that run one after the other. A probe waits for breakers to close, and must not delay a pause.
    fileprivate enum Track {
        case probes, others
    }

    let loop: EventLoop
    let watch: FleetWatch
    let audit: AuditLog
    let changes: ChangeFeed
    /// The rules by which requests are checked before they are sent, or the mistakes in the configuration of the rules;
    /// nil to check only the contract.
    let rules: Result<RequestRules, ConfigurationError>?
    /// The share of accepted results in the history of this configuration, from 0 to 1.
    let acceptedShare: Double
    /// The broker's management API, which knows delivery limits; nil if it is not configured.
    let management: ManagementAccess?
    /// The folder of exported dead letters; nil if it is not configured.
    let exportFolder: String?
    /// The history; nil without a journal.
    let history: HistoryFeed?
    var table = ActionTable()
    /// The running actions on messages. Each source of messages has at most one.
    var publications: [Publication] = []
    /// The tasks of running actions, also of those on messages that wait for their lock.
    var tasks: [UUIDValue: Task<Void, Never>] = [:] {
        didSet { ends.notify() }
    }
    private let ends: ArrivalWait
    /// The actions whose first record is in the audit, without the record of their result.
    private var begun: [UUIDValue: Job] = [:]
    var isClosing = false
    /// The plans of previews that have read a queue.
    var previews = ActionPreviews()
    /// The number of previews that read a queue now.
    var readingPreviews = 0
    private var jobs: [Job] = []
    private var runningTracks: Set<Track> = []
    /// The times of the last test notifications, oldest first.
    private var tests: [MonotonicTime] = []

    init(
        _ watch: FleetWatch, _ audit: AuditLog, _ changes: ChangeFeed, _ history: HistoryFeed?,
        _ configuration: ConsoleConfiguration, on loop: EventLoop
    ) {
        (self.watch, self.audit, self.changes, self.loop) = (watch, audit, changes, loop)
        (self.history, rules, exportFolder) = (history, configuration.rules, configuration.exportFolder)
        acceptedShare = configuration.acceptedShare
        management = ManagementAccess(configuration.broker)
        ends = ArrivalWait(on: loop)
    }

    /// Begins an action that is allowed. Returns the action, or the known action that an earlier request has begun.
    ///
    /// - Throws: if the id has another meaning, or a limit is reached.
    func begin(
        _ request: ActionRequest, _ plan: ActionPlan, _ login: Operator, id: UUIDValue, revision: PauseRevision?
    ) throws(AdminError) -> ActionTable.Action {
        if case .test = request.action { try countTest() }
        if let known = try add(request, login, id: id) { return known }
        jobs.append(Job(request: request, plan: plan, login: login, id: id, revision: revision))
        changes.note(.actions)
        next()
        return ActionTable.Action(id: id, by: login.name, content: request.content)
    }

    /// Adds an action to the table. Returns the action if an earlier request has begun it; otherwise nil.
    func add(_ request: ActionRequest, _ login: Operator, id: UUIDValue) throws(AdminError) -> ActionTable.Action? {
        switch table.begin(id, by: login.name, content: request.content) {
        case .known(let action): return action
        case .taken: throw Self.taken
        case .full: throw AdminError(429, "too many actions are running; wait for one to end", code: "busy")
        case .begun: return nil
        }
    }

    static let taken = AdminError(409, "another action has this id", code: "id_taken")

    /// Returns the action that an earlier request of the operator has begun; nil for an unknown id. Throws if the id
    /// has another meaning.
    func known(_ request: ActionRequest, _ login: Operator, id: UUIDValue) throws(AdminError) -> ActionTable.Action? {
        guard let action = table.action(id) else { return nil }
        guard action.by == login.name, action.content == request.content else {
            audit.refused("\(request.action.name): the id of another action", by: login.name)
            throw Self.taken
        }
        return action
    }

    private func countTest() throws(AdminError) {
        let now = loop.now.monotonic
        tests.removeAll { !now.isWithin(Self.minute, of: $0) }
        guard tests.count < Self.testsPerMinute else {
            throw AdminError(429, "at most \(Self.testsPerMinute) test notifications a minute", code: "pace")
        }
        tests.append(now)
    }

    private func next() {
        guard !isClosing, let index = jobs.firstIndex(where: { !runningTracks.contains($0.track) }) else { return }
        let job = jobs.remove(at: index)
        runningTracks.insert(job.track)
        tasks[job.id] = Task(executorPreference: loop) { [self] in
            let state = await run(job)
            table.end(job.id, state)
            runningTracks.remove(job.track)
            changes.note(.actions)
            tasks[job.id] = nil
            next()
        }
    }

    func run(_ job: Job) async -> ActionTable.State {
        guard let session = watch.session else { return .failed(ConsoleErrors.away) }
        // An action without a record in the audit must not happen.
        do throws(AMQPError) {
            try await session.write(record(of: job, .before))
        } catch {
            return .failed("not begun, because the audit cannot record it: \(error.message)")
        }
        begun[job.id] = job
        guard !isClosing else {
            let result = "not begun, because \(Self.endSentence)"
            noteEnd(of: job, .failed, result)
            return .failed(result)
        }
        let state = await perform(job, session)
        switch state {
        case .done(let result): noteEnd(of: job, .done, result)
        case .stopped(let result): noteEnd(of: job, .stopped, result)
        case .failed(let result): noteEnd(of: job, .failed, result)
        case .running: break
        }
        return state
    }

    private func record(
        of job: Job, _ phase: AuditRecord.Phase, _ outcome: AuditRecord.Outcome? = nil, _ result: String? = nil
    ) -> AuditRecord {
        audit.record(
            by: job.login.name, verb: job.request.action.name, phase, outcome, id: job.id, why: job.request.why,
            command: job.plan.recordedCommand, result: result, count: job.plan.count)
    }

    /// Records the result of an action, once.
    ///
    /// - Parameter outcome: nil if it is unknown.
    private func noteEnd(of job: Job, _ outcome: AuditRecord.Outcome?, _ result: String) {
        guard begun.removeValue(forKey: job.id) != nil else { return }
        audit.noteWhenConnected(record(of: job, .after, outcome, result))
    }

    /// Stops all actions on messages, and waits for the ends of running actions, for a limited time. Records that queued
    /// actions have not begun.
    func close() async {
        isClosing = true
        for job in jobs {
            let result = "not begun, because \(Self.endSentence)"
            table.end(job.id, .failed(result))
            audit.noteWhenConnected(record(of: job, .after, .failed, result))
        }
        jobs = []
        for publication in publications { publication.run.stop(Self.endSentence) }
        await ends.wait(milliseconds: Self.closeMilliseconds) { tasks.isEmpty }
        for job in begun.values { noteEnd(of: job, nil, "the result is unknown, because \(Self.endSentence)") }
    }

    private func perform(_ job: Job, _ session: FleetSession) async -> ActionTable.State {
        switch job.request.action {
        case .pause(let action): return await pause(action, job, session)
        case .probe(let probe): return await self.probe(probe, job, session)
        case .test(let request):
            do throws(AMQPError) {
                try await request.publish(in: session, id: job.id)
                return .done("published as \(job.id)")
            } catch {
                return .failed(error.message)
            }
        case .messages: return await runMessages(job)
        }
    }

    private func probe(_ probe: FleetProbe, _ job: Job, _ session: FleetSession) async -> ActionTable.State {
        let outcome: FleetProbe.Outcome
        do throws(AMQPError) {
            outcome = try await probe.run(
                session, by: job.login.name, id: job.id, waitQueues: watch.topology.waitQueues)
        } catch {
            return .failed(error.message)
        }
        guard outcome.hasReplies else { return .failed("no worker has replied") }
        let failures = outcome.failures.map { "\($0.key): \($0.value)" }
        let open = outcome.open.flatMap { worker, breakers in
            breakers.map { "\(worker): still open: \($0.route): \($0.sentence)" }
        }
        let problems = failures.sorted() + open.sorted()
        guard !outcome.isDone else { return .done("\(outcome.summary); no breaker of the scope is open") }
        let more = problems.count - Self.problemsMax
        let shown = problems.prefix(Self.problemsMax) + (more > 0 ? ["\(more) more"] : [])
        return .failed("\(outcome.summary); \(shown.joined(separator: "; "))".printable)
    }

    private func pause(_ action: PauseAction, _ job: Job, _ session: FleetSession) async -> ActionTable.State {
        let record: PauseRecord
        do throws(PauseWriter.Failure) {
            record = try await action.write(in: session, by: job.login.name, after: job.revision)
        } catch {
            if case .violation(let violation) = error, [.alreadyPaused, .notPaused].contains(violation.code) {
                return .done("unchanged: \(violation.sentence)")
            }
            return .failed(error.sentence)
        }
        // The operator's next action may follow before the console's own reader has received the record.
        watch.note(record)
        let coverage = await session.waitForCoverage(of: record.revision)
        let answered = coverage.inForce.count + coverage.missing.count
        var result = "revision \(record.revision.number): in force at \(coverage.inForce.count) of \(answered) workers"
        if !coverage.silent.isEmpty { result += "; \(coverage.silent.count) silent" }
        return .done(result)
    }
}
