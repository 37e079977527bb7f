import AMQP
import Actions
import AdminHTTP
import ControlProtocol
import Crypto
import EventLoop

/// Runs the actions of operators one after the other, and keeps their records in the audit. Loop-bound.
///
/// `@unchecked Sendable`: only the loop uses the object.
final class ActionRunner: @unchecked Sendable {
    private static let testsPerMinute = 10
    private static let minute: Duration = .seconds(60)

    private struct Job {
        let request: ActionRequest
        let plan: ActionPlan
        let login: Operator
        let id: UUIDValue
        /// The revision of the pauses on which the plan depends.
        let revision: PauseRevision?
    }

    private let loop: EventLoop
    private let watch: FleetWatch
    private let audit: AuditLog
    private let changes: ChangeFeed
    private(set) var table = ActionTable()
    private var jobs: [Job] = []
    private var isRunning = false
    /// The times of the last test notifications, oldest first.
    private var tests: [MonotonicTime] = []

    init(_ watch: FleetWatch, _ audit: AuditLog, _ changes: ChangeFeed, on loop: EventLoop) {
        (self.watch, self.audit, self.changes, self.loop) = (watch, audit, changes, loop)
    }

    /// Begins an action that is allowed. Returns the action; its state is then still `running`.
    ///
    /// - Throws: if the id has another meaning, or a limit is reached.
    /// - Returns: the action, and whether an earlier request has begun it.
    func begin(
        _ request: ActionRequest, _ plan: ActionPlan, _ login: Operator, id: UUIDValue, revision: PauseRevision?
    ) throws(AdminError) -> ActionTable.Action {
        if case .test = request.action { try countTest() }
        switch table.begin(id, by: login.name, content: request.content) {
        case .known(let action): return action
        case .taken: throw Self.taken
        case .full: throw AdminError(429, "too many actions are running; wait for one to end", code: "busy")
        case .begun: break
        }
        jobs.append(Job(request: request, plan: plan, login: login, id: id, revision: revision))
        changes.note(.actions)
        next()
        return ActionTable.Action(id: id, by: login.name, content: request.content)
    }

    static let taken = AdminError(409, "another action has this id", code: "id_taken")

    /// Returns the action if an earlier request of the operator has begun it.
    func known(_ request: ActionRequest, _ login: Operator, id: UUIDValue) throws(AdminError) -> ActionTable.Action? {
        guard let action = table.action(id) else { return nil }
        guard action.by == login.name, action.content == request.content else { throw Self.taken }
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
        guard !isRunning, !jobs.isEmpty else { return }
        isRunning = true
        let job = jobs.removeFirst()
        Task(executorPreference: loop) { [self] in
            let state = await run(job)
            table.end(job.id, state)
            isRunning = false
            changes.note(.actions)
            next()
        }
    }

    private func run(_ job: Job) async -> ActionTable.State {
        guard let session = watch.session else { return .failed(ConsoleErrors.away) }
        func record(_ phase: AuditRecord.Phase, _ result: String? = nil) -> AuditRecord {
            audit.record(
                by: job.login.name, verb: job.request.action.name, phase, id: job.id, why: job.request.why,
                command: job.plan.recordedCommand, result: result, count: job.plan.count)
        }
        // An action without a record in the audit must not happen.
        do throws(AMQPError) {
            try await audit.write(record(.before), in: session)
        } catch {
            return .failed("not begun, because the audit cannot record it: \(error.message)")
        }
        let state = await perform(job, session)
        switch state {
        case .done(let result), .failed(let result): audit.note(record(.after, result))
        case .running: break
        }
        return state
    }

    private func perform(_ job: Job, _ session: FleetSession) async -> ActionTable.State {
        switch job.request.action {
        case .pause(let action): return await pause(action, job, session)
        case .test(let request):
            do throws(AMQPError) {
                try await request.publish(in: session, id: job.id)
                return .done("published as \(job.id)")
            } catch {
                return .failed(error.message)
            }
        }
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
        let coverage = await session.waitForCoverage(of: record.revision)
        let answered = coverage.inForce.count + coverage.missing.count
        var result = "revision \(record.revision.number): in force at \(coverage.inForce.count) of \(answered) workers"
        if !coverage.silent.isEmpty { result += "; \(coverage.silent.count) silent" }
        return .done(result)
    }
}
