public import Registrations

/// Changes that an operator requests. These changes need no broker. The store applies them beside the batches of the
/// queue.
extension RegistrationConsumer {
    /// Applies commands and then `ends`, which come from an export, in one transaction. Then publishes the resulting
    /// events. Maintenance publishes the events later if too many events are in progress or publishing fails. Call this
    /// on the loop's thread.
    ///
    /// - Parameter completed: Called on the loop's thread after the commit. The events may not be published yet.
    public func apply(
        _ commands: [RegistrationCommand], ends: [StoredEnd],
        _ completed: @escaping (Result<[CommandOutcome], StoreFault>) -> Void
    ) {
        intake.store.apply(
            OperatorBatch(commands, ends: ends, rules: intake.store.rules) { [intake] result in
                if case .success(let outcomes) = result { intake.relayIfPossible(outcomes.flatMap(\.events)) }
                completed(result)
            })
    }

    /// Edits a page of registrations. Call this on the loop's thread.
    ///
    /// - Parameter completed: Called on the loop's thread.
    public func edit(
        _ edit: EditPage.Edit, after key: Registration.Key?,
        _ completed: @escaping (Result<EditedPage, StoreFault>) -> Void
    ) {
        intake.store.edit(OperatorEdit(edit, after: key, completed))
    }
}

private final class OperatorBatch: CommandBatch {
    private let ended: (Result<[CommandOutcome], StoreFault>) -> Void

    init(
        _ commands: [RegistrationCommand], ends: [StoredEnd], rules: RegistrationRules,
        _ ended: @escaping (Result<[CommandOutcome], StoreFault>) -> Void
    ) {
        self.ended = ended
        super.init(commands, ends: ends, rules: rules)
    }

    override func completed(_ outcomes: [CommandOutcome]) { ended(.success(outcomes)) }

    override func failed(_ fault: StoreFault) { ended(.failure(fault)) }
}

private final class OperatorEdit: EditPage {
    private let ended: (Result<EditedPage, StoreFault>) -> Void

    init(
        _ edit: EditPage.Edit, after key: Registration.Key?,
        _ ended: @escaping (Result<EditedPage, StoreFault>) -> Void
    ) {
        self.ended = ended
        super.init(edit, after: key)
    }

    override func completed(last: Registration.Key?, editedCount: Int, unreadableCount: Int) {
        ended(.success(EditedPage(last: last, editedCount: editedCount, unreadableCount: unreadableCount)))
    }

    override func failed(_ fault: StoreFault) { ended(.failure(fault)) }
}
