import EventLoop

extension StatementPipeline {
    enum Response {
        /// One row of a result that libpq delivers row by row.
        case row
        /// The last result of a statement. `isRollback` is true if the server answered with ROLLBACK.
        case result(isRollback: Bool)
        case failed(PostgresError)
        /// The end of the results of a statement.
        case end
        case sync
    }

    enum Action {
        case none
        case reportRow(StatementReceiver?)
        /// Keeps the result until the outcome is known.
        case keepResult
        /// Reports the kept result.
        case complete(Statement)
        /// Reports the error to the receiver of the statement, and `transactionFailed` to those of `unsent`.
        case fail(Statement, PostgresError, unsent: [Statement])
        /// A response that no statement awaits.
        case outOfOrder
    }

    /// Matches a response to the first statement in flight. The outcome of that statement is known at the Sync. An
    /// error can follow its result, and the server commits only at the Sync.
    mutating func received(_ response: Response) -> Action {
        guard let statement = inFlight.first else { return .outOfOrder }
        switch (responses.phase, response) {
        case (.awaitingResult, .row):
            return .reportRow(statement.receiver)
        case (.awaitingResult, .result(let isRollback)):
            responses.phase = .awaitingEnd
            responses.isRollback = isRollback
            return .keepResult
        case (.awaitingResult, .failed(let error)):
            responses.phase = .awaitingEnd
            responses.failure = error
            return .none
        case (.awaitingEnd, .failed(let error)), (.awaitingSync, .failed(let error)):
            responses.failure = responses.failure ?? error
            return .none
        case (.awaitingEnd, .end), (.awaitingSync, .end):
            responses.phase = .awaitingSync
            return .none
        case (.awaitingSync, .sync):
            let responses = responses
            self.responses = Responses()
            inFlight.removeFirst()
            return outcome(of: statement, responses)
        case (.awaitingResult, .end), (.awaitingResult, .sync), (.awaitingEnd, .row), (.awaitingEnd, .result),
            (.awaitingEnd, .sync), (.awaitingSync, .row), (.awaitingSync, .result):
            return .outOfOrder
        }
    }

    private mutating func outcome(of statement: Statement, _ responses: Responses) -> Action {
        guard let number = statement.transaction else {
            if let failure = responses.failure { return .fail(statement, failure, unsent: []) }
            return .complete(statement)
        }
        let earlier = transactions[number]?.failure
        switch statement.command {
        case .commit, .abandon, .rollBack:
            transactions[number] = nil
        case .configure, .deallocate, .prepare, .execute, .begin:
            guard let failure = responses.failure else { return .complete(statement) }
            guard earlier == nil else { return .fail(statement, Self.transactionFailed, unsent: []) }
            return .fail(statement, failure, unsent: fail(number, failure))
        }
        let failure: PostgresError? =
            switch statement.command {
            // The server answers COMMIT with ROLLBACK if an earlier statement failed.
            case .commit: earlier ?? responses.failure ?? (responses.isRollback ? Self.transactionFailed : nil)
            case .abandon: earlier
            case .configure, .deallocate, .prepare, .execute, .begin, .rollBack: responses.failure
            }
        if let failure { return .fail(statement, failure, unsent: []) }
        return .complete(statement)
    }
}
