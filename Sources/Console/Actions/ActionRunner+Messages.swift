import AMQP
import Actions
import AdminHTTP
import Configuration
import ControlProtocol
import Crypto
import DeadLetters
import EventLoop
import Text

/// Actions on the messages of queues. Each holds the lock of its queues, which excludes commands and other consoles.
extension ActionRunner {
    /// Maximum wait for the lock of a queue, which a preview holds for a short time.
    private static let lockMilliseconds: Int64 = 2000
    /// The time for which the record of an action that has not ended names the holder of a lock.
    private static let holderMilliseconds: Int64 = 3_600_000

    // MARK: Locks

    /// Returns the refusal if an action of this console has the messages.
    func busy(_ source: MessageSource) -> ActionRefusal? {
        publications.first { $0.action.source == source }.map { ActionRefusal(busy: $0.record) }
    }

    func acquire(_ lock: QueueLock, _ source: MessageSource) async throws(ActionRefusal) {
        do throws(AMQPError) {
            if try await lock.acquire(milliseconds: Self.lockMilliseconds) { return }
        } catch {
            throw ActionRefusal(AdminError(503, "the queue cannot be locked: \(error.message)", code: "broker"))
        }
        if let refusal = busy(source) { throw refusal }
        let since = loop.now.unixMilliseconds - Self.holderMilliseconds
        throw ActionRefusal(
            busy: QueueLock.busy(source), likely: watch.trail.unfinished(MessageAction.names(of: source), since: since))
    }

    // MARK: Actions

    /// Begins an action that is allowed. Answers once the action has the lock of its queue.
    func begin(
        _ request: ActionRequest, _ action: MessageAction, _ preview: ActionPreviews.Entry, _ login: Operator,
        id: UUIDValue, _ answer: LateAnswer
    ) throws(AdminError) {
        try check(action)
        if let known = try add(request, login, id: id) { return answer.send(response(known)) }
        previews.remove(preview)
        let job = Job(request: request, plan: preview.plan, login: login, id: id, revision: nil)
        tasks[id] = Task(executorPreference: loop) { [self] in
            await run(job, action, preview, answer)
            tasks[id] = nil
        }
    }

    private func run(
        _ job: Job, _ action: MessageAction, _ preview: ActionPreviews.Entry, _ answer: LateAnswer
    ) async {
        var publication: Publication?
        // The closures below refer to the publication, which retains them.
        defer { publication = nil }
        let lock = QueueLock(of: action.source, watch.connector, on: loop, command: action.source.command) {
            publication?.run.stop(QueueLock.lossSentence)
        }
        do throws(ActionRefusal) {
            let limit = try await deliveryLimit(of: action.source)
            try await acquire(lock, action.source)
            let extent = job.plan.messages ?? MessageExtent()
            let run = try run(of: action, confirmed: extent, deliveryLimit: limit) { publication?.results?.sent($0) }
            let record = audit.record(
                by: job.login.name, verb: action.name, .before, id: job.id, why: job.request.why, count: job.plan.count)
            publication = Publication(job, action, run, record)
        } catch {
            await lock.release()
            table.forget(job.id)
            previews.restore(preview)
            return answer.send(error.response)
        }
        guard let publication else { return }
        publication.results = results(of: publication)
        publications.append(publication)
        changes.note(.actions)
        answer.send(response(ActionTable.Action(id: job.id, by: job.login.name, content: ""), status: 201))
        let state = isClosing ? ActionTable.State.failed(Self.endSentence) : await run(job)
        publication.results?.end()
        await lock.release()
        publications.removeAll { $0 === publication }
        table.end(job.id, state, publication.progress)
        changes.note(.actions)
    }

    /// Returns the watch on the results of a redrive that stops itself; nil for other actions.
    private func results(of publication: Publication) -> SentRequestWatch? {
        guard case .resend(let action) = publication.action, let percent = action.stopAbovePercent, let history,
            case .deadLetters(let selection) = action.choice
        else { return nil }
        return SentRequestWatch(
            history, percentMax: percent, since: selection.until ?? loop.now.unixMilliseconds, on: loop
        ) { [unowned publication] reason in publication.stop("itself, because \(reason)") }
    }

    /// Runs an action on messages whose record is in the audit.
    func runMessages(_ job: Job) async -> ActionTable.State {
        guard let publication = publications.first(where: { $0.job.id == job.id }) else {
            return .failed(ConsoleErrors.away)
        }
        let run = publication.run
        return switch await run.run() {
        case .complete: .done(run.summary)
        case .stopped: .stopped("stopped by \(publication.stopper ?? job.login.name): \(run.summary)".printable)
        case .failed(let sentence), .worn(let sentence): .failed("\(run.summary); \(sentence)".printable)
        }
    }

    /// Returns the lowest role that may stop an action.
    func role(ofStopping id: UUIDValue) -> OperatorRole {
        publications.first { $0.job.id == id }?.action.role ?? .operate
    }

    /// Stops an action. Returns false if it cannot be stopped.
    func stop(_ id: UUIDValue, by login: Operator) -> Bool {
        guard let publication = publications.first(where: { $0.job.id == id }) else { return false }
        publication.stop(login.name)
        audit.note(
            audit.record(by: login.name, verb: "stop", .after, id: id, result: publication.job.request.action.name))
        return true
    }

    // MARK: Answers

    func response(_ action: ActionTable.Action, status: Int = 200) -> AdminResponse {
        let publication = publications.first { $0.job.id == action.id }
        let progress = publication?.progress ?? action.progress
        return .json(action.json(progress, isStoppable: publication != nil), status: status)
    }
}
