import Actions
import AdminHTTP
import BrokerManagement
import BrokerTopology
import Configuration
import Crypto
import DeadLetters
import EventLoop
import JSON
import Threads

/// Previews of actions on messages, which may read a queue.
extension ActionRunner {
    /// Maximum number of previews that read a queue at the same time.
    private static let readingPreviewsMax = 4

    /// Answers with the plan of an action. Reads the queue of dead letters. For waiting requests, which a reading would
    /// delay, counts those of the history or the depth of the queues.
    ///
    /// - Parameter waiting: the number of waiting requests in the history; nil if it is unknown.
    func preview(
        _ request: ActionRequest, _ action: MessageAction, _ commands: CommandAdvice, waiting: Int?,
        _ answer: LateAnswer
    ) throws(AdminError) {
        try check(action)
        if let refusal = busy(action.source) { return answer.send(refusal.response) }
        if case .resend(let resend) = action, resend.source != .deadLetters {
            // A history that does not receive waits knows too few.
            let known = history?.isCurrent == true ? waiting : nil
            let isAtMost = known == nil
            guard let count = known ?? watch.queues.waiting else {
                throw AdminError(503, "the number of waiting requests is not yet known; try again", code: "broker")
            }
            let extent = MessageExtent(count: min(count, resend.limit ?? .max), isAtMost: isAtMost)
            return answer.send(keep(request, extent, commands))
        }
        guard readingPreviews < Self.readingPreviewsMax else {
            throw AdminError(429, "too many previews are running; try again later", code: "pace")
        }
        readingPreviews += 1
        Task(executorPreference: loop) { [self] in
            let result = await count(action)
            readingPreviews -= 1
            switch result {
            case .success(let extent): answer.send(keep(request, extent, commands))
            case .failure(let refusal): answer.send(refusal.response)
            }
        }
    }

    /// Checks that the console can run an action.
    func check(_ action: MessageAction) throws(AdminError) {
        switch action {
        case .resend(let resend):
            if resend.source == .deadLetters { try checkRules() }
            if resend.stopAbovePercent != nil { try checkResults() }
        case .drop:
            guard exportFolder != nil else {
                throw AdminError(
                    400, "the console cannot export the dead letters before it drops them", code: "no_export_folder",
                    remedy: "set console.export_folder in the configuration, and restart the console")
            }
        case .edit: try checkRules()
        }
    }

    /// Checks that the console knows the rules of the workers. Without them, it would send requests that workers refuse.
    private func checkRules() throws(AdminError) {
        guard case .failure(let error) = rules else { return }
        throw ConsoleErrors.rules(error)
    }

    /// Checks that the history receives the results that stop an action.
    private func checkResults() throws(AdminError) {
        guard let history else {
            throw AdminError(
                400, "stop_above_percent needs the history: the configuration has no section journal", code: "invalid")
        }
        guard acceptedShare == 1 else {
            throw AdminError(
                400, "stop_above_percent needs all results in the history: journal.accepted is below 1",
                code: "invalid")
        }
        guard history.isCurrent else {
            throw AdminError(
                409, "stop_above_percent needs a history that follows the journal; see the page Now",
                code: "history")
        }
    }

    private func keep(_ request: ActionRequest, _ extent: MessageExtent, _ commands: CommandAdvice) -> AdminResponse {
        let plan = ActionPlan(
            request, commands: commands, watch.names, pauses: nil, workers: 0, probed: FleetProbe.Plan(),
            messages: extent)
        previews.add(plan, of: request.content, at: loop.now.monotonic)
        var json = JSONWriter()
        plan.write(to: &json)
        return .json(json.bytes)
    }

    private func count(_ action: MessageAction) async -> Result<MessageExtent, ActionRefusal> {
        let lock = QueueLock(of: action.source, watch.connector, on: loop, command: action.source.command)
        let result: Result<MessageExtent, ActionRefusal>
        do throws(ActionRefusal) {
            try await acquire(lock, action.source)
            result = .success(try await extent(of: action, deliveryLimit: try await deliveryLimit(of: action.source)))
        } catch {
            result = .failure(error)
        }
        await lock.release()
        return result
    }

    /// Reads the queue, and requeues all messages.
    private func extent(
        of action: MessageAction, deliveryLimit: Int?
    ) async throws(ActionRefusal) -> MessageExtent {
        switch action {
        case .resend(let resend):
            let run = try resendRun(resend, isDryRun: true, deliveryLimit: deliveryLimit)
            try await read(run)
            return run.extent
        case .drop(let drop):
            let run = try dropRun(drop, to: nil, deliveryLimit: deliveryLimit)
            try await read(run)
            return run.extent
        case .edit(let edit):
            let run = editRun(edit, isDryRun: true, deliveryLimit: deliveryLimit)
            let end = await run.run()
            if let refusal = run.refusal { throw ActionRefusal(refusal) }
            try check(end)
            return MessageExtent(count: 1)
        }
    }

    private func read(_ run: any QueueRun) async throws(ActionRefusal) { try check(await run.run()) }

    private func check(_ end: QueueRunEnd) throws(ActionRefusal) {
        switch end {
        case .complete, .stopped: return
        case .failed(let sentence):
            throw ActionRefusal(AdminError(503, "the queue cannot be read: \(sentence)", code: "broker"))
        case .worn(let sentence):
            throw ActionRefusal(AdminError(409, sentence, code: "delivery_limit", remedy: deliveryLimitRemedy))
        }
    }

    private var deliveryLimitRemedy: String {
        management == nil
            ? "set amqp.management_url in the configuration, so that the console knows the delivery limit of the queue; "
                + "without it, the console assumes the default of RabbitMQ 4"
            : "set a policy with delivery-limit -1 for the queue"
    }

    /// Returns the delivery limit of a queue, as `martlet dead-letters` does: the limit that the management API shows,
    /// else the default of RabbitMQ 4.
    func deliveryLimit(of source: MessageSource) async throws(ActionRefusal) -> Int? {
        guard source != .waits, let queue = source.queues(of: watch.topology).first else { return nil }
        guard let management else { return DeliveryLimit.standard }
        let found = await DetachedThread.run { try? ManagementClient(management).deliveryLimit(ofQueue: queue) }
        guard let found else { return DeliveryLimit.standard }
        guard let limit = found.count else { return nil }
        guard limit > DeadLetterScan.deliveriesSpared else {
            throw ActionRefusal(
                AdminError(
                    409,
                    "RabbitMQ discards a message of \(queue) after more than \(limit) failed deliveries, and each "
                        + "reading counts as one",
                    code: "delivery_limit", remedy: deliveryLimitRemedy))
        }
        return limit
    }

    // MARK: Runs

    private func resendRun(
        _ action: ResendAction, isDryRun: Bool, deliveryLimit: Int?, unsendable: Int = 0,
        sent: @escaping (UUIDValue) -> Void = { _ in }
    ) throws(ActionRefusal) -> ResendRun {
        var settings: ResendSettings
        do throws(FilterError) {
            settings = try action.settings(watch.names, try? rules?.get())
        } catch {
            throw ActionRefusal(AdminError(filter: error))
        }
        settings.isDryRun = isDryRun
        return ResendRun(
            settings, of: action.source.queues(of: watch.topology), deliveryLimit: deliveryLimit, watch.connector,
            on: loop, unsendable: unsendable, sent: sent)
    }

    private func dropRun(
        _ action: DropAction, to folder: String?, deliveryLimit: Int?
    ) throws(ActionRefusal) -> DropRun {
        do throws(FilterError) {
            return try DropRun(action, to: folder, deliveryLimit: deliveryLimit, watch.connector, on: loop)
        } catch {
            throw ActionRefusal(AdminError(filter: error))
        }
    }

    private func editRun(_ action: EditAction, isDryRun: Bool, deliveryLimit: Int?) -> EditRun {
        EditRun(action, try? rules?.get(), isDryRun: isDryRun, deliveryLimit: deliveryLimit, watch.connector, on: loop)
    }

    /// Returns the run of an action.
    ///
    /// - Parameters:
    ///   - extent: the messages that the operator has confirmed.
    ///   - sent: called with the id of each request that was published.
    func run(
        of action: MessageAction, confirmed extent: MessageExtent, deliveryLimit: Int?,
        sent: @escaping (UUIDValue) -> Void
    ) throws(ActionRefusal) -> any QueueRun {
        switch action {
        case .resend(var resend):
            resend.limit = action.limit(confirmed: extent)
            return try resendRun(
                resend, isDryRun: false, deliveryLimit: deliveryLimit, unsendable: extent.unsendable, sent: sent)
        case .drop(var drop):
            drop.limit = action.limit(confirmed: extent)
            return try dropRun(drop, to: exportFolder, deliveryLimit: deliveryLimit)
        case .edit(let edit): return editRun(edit, isDryRun: false, deliveryLimit: deliveryLimit)
        }
    }
}
