import EventLoop
import Testing

@testable import PostgreSQL

@Suite struct StatementPipelineTests {
    /// A pipeline. Its statements have the names of their receivers.
    private struct Script {
        final class Named: StatementReceiver {
            let name: String
            init(_ name: String) { self.name = name }
        }

        var pipeline = StatementPipeline()
        var now = MonotonicTime(nanoseconds: 0)

        static func named(_ name: String, _ command: StatementPipeline.Command, _ transaction: Int? = nil)
            -> StatementPipeline.Statement
        {
            StatementPipeline.Statement(command: command, receiver: Named(name), transaction: transaction)
        }

        mutating func add(_ name: String, in transaction: Int? = nil) throws(PostgresError) {
            try pipeline.add(Self.named(name, .execute(0, PostgresParameters()), transaction))
        }

        mutating func commit(_ name: String, _ transaction: Int) throws(PostgresError) {
            try pipeline.end(Self.named(name, .commit, transaction))
        }

        mutating func rollBack(_ name: String, _ transaction: Int) throws(PostgresError) {
            try pipeline.end(Self.named(name, .rollBack, transaction))
        }

        static func text(_ statement: StatementPipeline.Statement) -> String {
            let name = (statement.receiver as? Named).map { ":\($0.name)" } ?? ""
            switch statement.command {
            case .configure: return "configure" + name
            case .deallocate: return "deallocate" + name
            case .prepare(let index): return "prepare\(index)" + name
            case .execute: return "execute" + name
            case .begin: return "begin" + name
            case .commit: return "commit" + name
            case .rollBack: return "rollback" + name
            case .abandon: return "abandon" + name
            }
        }

        mutating func sent() -> [String] {
            var sent: [String] = []
            while let statement = pipeline.next(now) { sent.append(Self.text(statement)) }
            return sent
        }

        mutating func receive(_ response: StatementPipeline.Response) -> String {
            switch pipeline.received(response) {
            case .none: "none"
            case .reportRow: "row"
            case .keepResult: "keep"
            case .complete(let statement): "complete " + Self.text(statement)
            case .fail(let statement, let error, let unsent):
                (["fail \(Self.text(statement)) \(error.state.map(\.description) ?? error.code.rawValue)"]
                    + unsent.map(Self.text)).joined(separator: " ")
            case .outOfOrder: "out of order"
            }
        }

        /// Receives all responses to a successful statement, and returns the last action.
        mutating func succeed(isRollback: Bool = false) -> String {
            _ = receive(.result(isRollback: isRollback))
            _ = receive(.end)
            return receive(.sync)
        }

        mutating func isOverdue(_ limit: Duration, at time: MonotonicTime) -> Bool {
            pipeline.isOverdue(limit, time)
        }

        mutating func fail(_ state: String) -> String {
            _ = receive(.failed(PostgresError(SQLState(state)!)))
            _ = receive(.end)
            return receive(.sync)
        }
    }

    @Test func outcomesAreKnownAtTheSync() throws {
        var script = Script()
        try script.add("a")
        #expect(script.sent() == ["execute:a"])
        #expect(script.receive(.result(isRollback: false)) == "keep")
        #expect(script.receive(.end) == "none")
        #expect(script.receive(.sync) == "complete execute:a")
        #expect(script.pipeline.isDrained)
    }

    @Test func anErrorAfterTheResultFailsTheStatement() throws {
        var script = Script()
        try script.add("a")
        _ = script.sent()
        #expect(script.receive(.result(isRollback: false)) == "keep")
        #expect(script.receive(.end) == "none")
        #expect(script.receive(.failed(PostgresError(SQLState("23503")!))) == "none")
        #expect(script.receive(.end) == "none")
        #expect(script.receive(.sync) == "fail execute:a 23503")
    }

    @Test func rowsPrecedeTheResult() throws {
        var script = Script()
        try script.add("a")
        _ = script.sent()
        #expect(script.receive(.row) == "row")
        #expect(script.receive(.row) == "row")
        #expect(script.succeed() == "complete execute:a")
    }

    @Test func anErrorFailsItsStatementOnly() throws {
        var script = Script()
        for name in ["a", "b", "c"] { try script.add(name) }
        #expect(script.sent() == ["execute:a", "execute:b", "execute:c"])
        #expect(script.succeed() == "complete execute:a")
        #expect(script.fail("22012") == "fail execute:b 22012")
        #expect(script.succeed() == "complete execute:c")
    }

    /// Tests each response other than an error in each phase of a statement.
    @Test func responsesOutOfOrder() throws {
        let responses: [(String, StatementPipeline.Response)] = [
            ("row", .row), ("result", .result(isRollback: false)), ("end", .end), ("sync", .sync),
        ]
        let before: [(String, [StatementPipeline.Response], Set<String>)] = [
            ("result", [], ["end", "sync"]),
            ("end", [.result(isRollback: false)], ["row", "result", "sync"]),
            ("sync", [.result(isRollback: false), .end], ["row", "result"]),
        ]
        for (phase, earlier, refused) in before {
            for (name, response) in responses {
                var script = Script()
                try script.add("a")
                _ = script.sent()
                for response in earlier { _ = script.receive(response) }
                #expect((script.receive(response) == "out of order") == refused.contains(name), "\(name) in \(phase)")
            }
        }
        for (name, response) in responses {
            var script = Script()
            #expect(script.receive(response) == "out of order", "\(name) without a statement")
        }
    }

    @Test func statementsInFlightAreBounded() throws {
        var script = Script()
        for number in 0..<100 { try script.add("\(number)") }
        #expect(script.sent().count == StatementPipeline.inFlightMax)
        #expect(script.pipeline.waitingCount == 36)
        #expect(script.succeed() == "complete execute:0")
        #expect(script.sent() == ["execute:64"])
    }

    @Test func waitingStatementsAreBounded() throws {
        var script = Script()
        for _ in 0..<StatementPipeline.waitingMax { try script.add("a") }
        #expect(throws: PostgresError.self) { try script.add("b") }
        #expect(throws: PostgresError.self) { try script.pipeline.begin() }
        _ = script.sent()
        try script.add("b")
    }

    @Test func aTransactionIsASequence() throws {
        var script = Script()
        let transaction = try script.pipeline.begin()
        try script.add("other")
        try script.add("a", in: transaction)
        #expect(script.sent() == ["begin", "execute:a"])
        #expect(script.succeed() == "complete begin")
        #expect(script.succeed() == "complete execute:a")
        // The transaction stays open, because its caller chooses the next statement from the rows.
        #expect(script.sent() == [])
        #expect(!script.pipeline.isDrained)
        try script.add("b", in: transaction)
        try script.commit("end", transaction)
        #expect(script.sent() == ["execute:b", "commit:end", "execute:other"])
        #expect(script.succeed() == "complete execute:b")
        #expect(script.succeed() == "complete commit:end")
        #expect(script.succeed() == "complete execute:other")
        #expect(script.pipeline.isDrained)
        #expect(throws: StatementPipeline.transactionFailed) { try script.add("c", in: transaction) }
        #expect(throws: StatementPipeline.transactionFailed) { try script.commit("again", transaction) }
    }

    @Test func aFailedTransactionIsRolledBack() throws {
        var script = Script()
        let transaction = try script.pipeline.begin()
        for name in ["a", "b"] { try script.add(name, in: transaction) }
        #expect(script.sent() == ["begin", "execute:a", "execute:b"])
        #expect(script.succeed() == "complete begin")
        #expect(script.fail("40P01") == "fail execute:a 40P01")
        #expect(script.fail("25P02") == "fail execute:b transactionFailed")
        #expect(throws: StatementPipeline.transactionFailed) { try script.add("c", in: transaction) }
        try script.commit("end", transaction)
        #expect(script.sent() == ["abandon:end"])
        #expect(script.succeed() == "fail abandon:end 40P01")
        #expect(script.pipeline.isDrained)
    }

    @Test func unsentStatementsOfAFailedTransactionFail() throws {
        var script = Script()
        for number in 0..<62 { try script.add("\(number)") }
        let transaction = try script.pipeline.begin()
        for name in ["a", "b", "c"] { try script.add(name, in: transaction) }
        try script.commit("end", transaction)
        #expect(script.sent().suffix(2) == ["begin", "execute:a"])
        for _ in 0..<62 { _ = script.succeed() }
        #expect(script.succeed() == "complete begin")
        #expect(script.fail("23505") == "fail execute:a 23505 execute:b execute:c")
        #expect(script.sent() == ["abandon:end"])
        #expect(script.succeed() == "fail abandon:end 23505")
        #expect(script.pipeline.isDrained)
    }

    @Test func aSentCommitOfAFailedTransactionFails() throws {
        var script = Script()
        let transaction = try script.pipeline.begin()
        try script.add("a", in: transaction)
        try script.commit("end", transaction)
        #expect(script.sent() == ["begin", "execute:a", "commit:end"])
        _ = script.succeed()
        #expect(script.fail("40001") == "fail execute:a 40001")
        #expect(script.succeed(isRollback: true) == "fail commit:end 40001")
    }

    @Test func aCommitThatTheServerRefusesFails() throws {
        var script = Script()
        let (first, second) = (try script.pipeline.begin(), try script.pipeline.begin())
        try script.commit("first", first)
        try script.commit("second", second)
        #expect(script.sent() == ["begin", "commit:first", "begin", "commit:second"])
        _ = script.succeed()
        #expect(script.fail("23503") == "fail commit:first 23503")
        _ = script.succeed()
        #expect(script.succeed(isRollback: true) == "fail commit:second transactionFailed")
        #expect(script.pipeline.isDrained)
    }

    @Test func aRollbackCompletes() throws {
        var script = Script()
        let transaction = try script.pipeline.begin()
        try script.add("a", in: transaction)
        _ = script.sent()
        _ = script.succeed()
        #expect(script.fail("22012") == "fail execute:a 22012")
        try script.rollBack("end", transaction)
        #expect(script.sent() == ["rollback:end"])
        #expect(script.succeed(isRollback: true) == "complete rollback:end")
    }

    @Test func preparationsPrecedeStatementsButNotATransaction() throws {
        var script = Script()
        let transaction = try script.pipeline.begin()
        try script.add("other")
        #expect(script.sent() == ["begin"])
        script.pipeline.prepare(.deallocate)
        script.pipeline.prepare(.prepare(0))
        #expect(script.sent() == [])
        try script.rollBack("end", transaction)
        #expect(script.sent() == ["rollback:end", "deallocate", "prepare0", "execute:other"])
    }

    @Test func theDeadlineMovesWithTheBytesOfTheServer() throws {
        var script = Script()
        let limit = Duration.seconds(2)
        script.now = MonotonicTime(nanoseconds: 10)
        #expect(script.pipeline.deadline(limit) == nil)
        try script.add("a")
        try script.add("b")
        #expect(script.pipeline.deadline(limit) == nil)
        _ = script.sent()
        #expect(script.pipeline.deadline(limit) == script.now + limit)
        script.now = script.now + .seconds(1)
        script.pipeline.progressed(script.now)
        _ = script.succeed()
        #expect(script.pipeline.deadline(limit) == script.now + limit)
        _ = script.succeed()
        #expect(script.pipeline.deadline(limit) == nil)
        #expect(script.isOverdue(limit, at: script.now + .seconds(100)) == false)
    }

    @Test func aServerWithoutAResponseIsOverdue() throws {
        var script = Script()
        let limit = Duration.seconds(2)
        try script.add("a")
        _ = script.sent()
        let deadline = script.now + limit
        #expect(script.isOverdue(limit, at: deadline - .nanoseconds(1)) == false)
        #expect(script.isOverdue(limit, at: deadline) == true)
        #expect(script.isOverdue(limit, at: deadline + limit - .nanoseconds(1)) == true)
    }

    @Test func afterAPauseOfTheProcessTheLimitBeginsAgain() throws {
        var script = Script()
        let limit = Duration.seconds(2)
        try script.add("a")
        _ = script.sent()
        let resumed = script.now + .seconds(10)
        #expect(script.isOverdue(limit, at: resumed) == false)
        #expect(script.pipeline.deadline(limit) == resumed + limit)
        #expect(script.isOverdue(limit, at: resumed + limit) == true)
    }

    @Test func removedStatementsAreReturnedOnce() throws {
        var script = Script()
        try script.add("a")
        _ = script.sent()
        let open = try script.pipeline.begin()
        try script.add("b", in: open)
        try script.add("c")
        let closed = try script.pipeline.begin()
        try script.commit("d", closed)
        let removed = script.pipeline.removeAll().map(Script.text)
        #expect(removed == ["execute:a", "begin", "execute:b", "begin", "commit:d", "execute:c"])
        #expect(script.pipeline.isDrained)
        #expect(script.sent() == [])
    }
}
