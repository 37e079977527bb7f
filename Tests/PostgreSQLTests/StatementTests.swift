import Crypto
import EventLoop
import PostgreSQL
import TestKit
import Testing

/// Statements on a real server.
@Suite(.serialized, .postgres) struct StatementTests {
    private static let withDefaultLimits: @Sendable (inout PostgresConfiguration) -> Void = {
        $0.limits = PostgresConfiguration.Limits()
    }
    private static let withLockLimit: @Sendable (inout PostgresConfiguration) -> Void = {
        $0.limits.lockMillisecondsMax = 100
    }
    private static let withStatementLimit: @Sendable (inout PostgresConfiguration) -> Void = {
        $0.limits.statementMillisecondsMax = 500
    }

    @Test func valuesOfEveryType() async throws {
        let statements = [
            PreparedStatement(
                "SELECT $1, $2, $3, $4, $5, $6, $7, $8::int8",
                [.uuid, .int2, .int4, .int8, .bytea, .text, .bool, .int8]),
            PreparedStatement(
                "SELECT $1, $2, $3, $4, $5, $6, $7",
                [.uuidArray, .int2Array, .int4Array, .int8Array, .byteaArray, .textArray, .boolArray]),
            PreparedStatement("SELECT n, v FROM unnest($1) WITH ORDINALITY q(v, n) ORDER BY n", [.int4Array]),
        ]
        try await withConnection(statements) { connection in
            try await connection.waitUntilReady()
            let uuid = UUIDValue(high: 1, low: .max)
            var scalars = PostgresParameters()
            scalars.append(uuid)
            scalars.append(Int16.min)
            scalars.append(Int32.min)
            scalars.append(Int64.min)
            scalars.append([0, 255] as [UInt8])
            scalars.append("é")
            scalars.append(true)
            scalars.append(nil as Int64?)
            try await connection.run(0, scalars) { rows throws(PostgresError) in
                #expect(rows.count == 1)
                #expect(rows.affectedCount == 1)
                let first = try rows.value(UUIDValue.self, row: 0, column: 0)
                let (second, third) = (
                    try rows.value(Int16.self, row: 0, column: 1), try rows.value(Int32.self, row: 0, column: 2)
                )
                let (fourth, fifth) = (
                    try rows.value(Int64.self, row: 0, column: 3), try rows.value([UInt8].self, row: 0, column: 4)
                )
                let (sixth, seventh) = (
                    try rows.value(String.self, row: 0, column: 5), try rows.value(Bool.self, row: 0, column: 6)
                )
                let eighth = try rows.optional(Int64.self, row: 0, column: 7)
                #expect(first == uuid)
                #expect(second == .min)
                #expect(third == .min)
                #expect(fourth == .min)
                #expect(fifth == [0, 255])
                #expect(sixth == "é")
                #expect(seventh)
                #expect(eighth == nil)
                rows.withBytes(row: 0, column: 7) { #expect($0 == nil) }
                rows.withBytes(row: 0, column: 4) { #expect($0.map { Array($0) } == [0, 255]) }
            }
            var arrays = PostgresParameters()
            arrays.append(array: [uuid])
            arrays.append(array: [Int16.max, 0])
            arrays.append(array: [Int32.max])
            arrays.append(array: [] as [Int64])
            arrays.append(array: [[], [1]] as [[UInt8]])
            arrays.append(array: ["", "é"])
            arrays.append(array: [true, false])
            try await connection.run(1, arrays) { rows throws(PostgresError) in
                let (first, second) = (
                    try rows.array(of: UUIDValue.self, row: 0, column: 0),
                    try rows.array(of: Int16.self, row: 0, column: 1)
                )
                let (third, fourth) = (
                    try rows.array(of: Int32.self, row: 0, column: 2), try rows.array(of: Int64.self, row: 0, column: 3)
                )
                let fifth = try rows.array(of: [UInt8].self, row: 0, column: 4)
                let (sixth, seventh) = (
                    try rows.array(of: String.self, row: 0, column: 5), try rows.array(of: Bool.self, row: 0, column: 6)
                )
                #expect(first == [uuid])
                #expect(second == [.max, 0])
                #expect(third == [.max])
                #expect(fourth == [])
                #expect(fifth == [[], [1]])
                #expect(sixth == ["", "é"])
                #expect(seventh == [true, false])
            }
            var nulls = PostgresParameters()
            nulls.append(array: [1, nil, 3] as [Int32?])
            let read = try await connection.run(2, nulls) { rows throws(PostgresError) in
                var values: [Int32?] = []
                for row in 0..<rows.count { values.append(try rows.optional(row: row, column: 1)) }
                return values
            }
            #expect(read == [1, nil, 3])
        }
    }

    @Test func unexpectedTypesAndNullsAreErrors() async throws {
        try await withConnection([PreparedStatement("SELECT 1::int4, NULL::int8")]) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0) { rows in
                #expect(throws: PostgresError.self) { try rows.value(Int64.self, row: 0, column: 0) }
                #expect(throws: PostgresError.self) { try rows.value(Int64.self, row: 0, column: 1) }
                #expect(throws: PostgresError.self) { try rows.value(Int64.self, row: 0, column: 2) }
                #expect(throws: PostgresError.self) { try rows.array(of: Int32.self, row: 0, column: 0) }
            }
        }
    }

    @Test func theSessionHasItsSettings() async throws {
        let server = try #require(PostgresServerTrait.server)
        try await server.sql("ALTER ROLE martlet SET default_transaction_isolation = 'serializable'")
        let names =
            ["search_path", "statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]
            + ["plan_cache_mode", "application_name", "client_encoding", "transaction_isolation", "enable_seqscan"]
        let statement = PreparedStatement("SELECT current_setting(name) FROM unnest($1) name", [.textArray])
        try await withConnection([statement], Self.withDefaultLimits) { connection in
            try await connection.waitUntilReady()
            var parameters = PostgresParameters()
            parameters.append(array: names)
            let values = try await connection.run(0, parameters) { rows throws(PostgresError) in
                var values: [String] = []
                for row in 0..<rows.count { values.append(try rows.value(row: row, column: 0)) }
                return values
            }
            let expected =
                ["", "1800ms", "1s", "10s", "force_generic_plan", "martlet", "UTF8"] + ["read committed", "off"]
            #expect(values == expected)
            #expect(connection.serverVersion?.isEmpty == false)
        }
        try await server.sql("ALTER ROLE martlet RESET default_transaction_isolation")
    }

    @Test func anErrorFailsItsStatementOnly() async throws {
        let server = try #require(PostgresServerTrait.server)
        try await server.sql(
            """
            CREATE TABLE isolation (n int CONSTRAINT small CHECK (n < 10)); GRANT ALL ON isolation TO martlet
            """)
        let insert = PreparedStatement("INSERT INTO public.isolation VALUES ($1)", [.int4])
        try await withConnection([insert, PreparedStatement("SELECT 1 / $1", [.int4])]) { connection in
            try await connection.waitUntilReady()
            func parameters(_ number: Int32) -> PostgresParameters {
                var parameters = PostgresParameters()
                parameters.append(number)
                return parameters
            }
            // All statements are sent in one event-loop iteration.
            let first = connection.send(0, parameters(1))
            let refused = connection.send(0, parameters(424_242))
            let divided = connection.send(1, parameters(0))
            let last = connection.send(0, parameters(2))
            #expect(try await connection.error(of: first) == nil)
            let violation = try #require(try await connection.error(of: refused))
            #expect(violation.state?.description == "23514")
            #expect(violation.constraint == "small")
            #expect(!violation.message.contains("424242"))
            #expect(try await connection.error(of: divided)?.outcome == .data)
            #expect(try await connection.error(of: last) == nil)
        }
        #expect(try await server.sql("SELECT n FROM isolation ORDER BY n") == ["1", "2"])
    }

    @Test func transactions() async throws {
        let server = try #require(PostgresServerTrait.server)
        try await server.sql("CREATE TABLE sequence (n int PRIMARY KEY); GRANT ALL ON sequence TO martlet")
        let statements = [
            PreparedStatement("INSERT INTO public.sequence VALUES ($1)", [.int4]),
            PreparedStatement("SELECT count(*) FROM public.sequence"),
        ]
        try await withConnection(statements) { connection in
            try await connection.waitUntilReady()
            func insert(_ number: Int32, _ transaction: PostgresConnection.Transaction) async -> PostgresError? {
                var parameters = PostgresParameters()
                parameters.append(number)
                return await connection.error(of: 0, parameters, in: transaction)
            }
            let transaction = try connection.begin()
            #expect(await insert(1, transaction) == nil)
            // This statement waits until the transaction ends.
            var counted: Int64?
            let counter = ReadingReceiver({ rows throws(PostgresError) in
                try rows.value(Int64.self, row: 0, column: 0)
            }) { counted = try? $0.get() }
            try connection.execute(1, PostgresParameters(), receiver: counter)
            await connection.loop.sleep(for: .milliseconds(20))
            #expect(try await server.sql("SELECT count(*) FROM sequence") == ["0"])
            #expect(await insert(2, transaction) == nil)
            try await connection.commit(transaction)
            try await connection.loop.wait { counted != nil }
            #expect(counted == 2)
            let failing = try connection.begin()
            #expect(await insert(3, failing) == nil)
            #expect(await insert(1, failing)?.state?.description == "23505")
            #expect(await insert(4, failing)?.code == .transactionFailed)
            let error = await #expect(throws: PostgresError.self) { try await connection.commit(failing) }
            #expect(error?.state?.description == "23505")
            let undone = try connection.begin()
            #expect(await insert(5, undone) == nil)
            try connection.rollBack(undone)
            let remaining = try await connection.run(1) { rows throws(PostgresError) in
                try rows.value(Int64.self, row: 0, column: 0)
            }
            #expect(remaining == 2)
        }
    }

    @Test func manyLookupsInAPipeline() async throws {
        try await withConnection([PreparedStatement("SELECT $1 + 1", [.int4])]) { connection in
            try await connection.waitUntilReady()
            let count: Int32 = 10_000
            var completed: [Int32] = []
            var sent: Int32 = 0
            while completed.count < count {
                // Each iteration fills the queue of waiting statements.
                do throws(PostgresError) {
                    while sent < count {
                        var parameters = PostgresParameters()
                        parameters.append(sent)
                        let receiver = ReadingReceiver({ rows throws(PostgresError) in
                            try rows.value(Int32.self, row: 0, column: 0)
                        }) { completed.append((try? $0.get()) ?? -1) }
                        try connection.execute(0, parameters, receiver: receiver)
                        sent += 1
                    }
                } catch {
                    #expect(error.code == .queueFull)
                }
                await connection.loop.sleep(for: .milliseconds(1))
            }
            #expect(completed == Array(1...count))
        }
    }

    @Test func rowsArriveBeforeTheServerHasSentTheWholeResult() async throws {
        let lock = PreparedStatement("SELECT pg_catalog.pg_advisory_lock(1)")
        let unlock = PreparedStatement("SELECT pg_catalog.pg_advisory_unlock(1)")
        // The server computes the last row after `holder` has released the lock.
        let rows = PreparedStatement(
            """
            SELECT repeat('x', 100000), CASE WHEN n = $1 THEN pg_catalog.pg_advisory_lock(1)::text END
            FROM generate_series(1, $1) AS n
            """, [.int4], delivery: .rowByRow)
        let url = try #require(PostgresServerTrait.server).url
        try await withConnection([rows]) { connection in
            let holder = try startConnection([lock, unlock], url: url, loop: connection.loop)
            try await holder.waitUntilReady()
            try await holder.run(0)
            try await connection.waitUntilReady()
            let receiver = CountingReceiver()
            var parameters = PostgresParameters()
            parameters.append(Int32(40))
            try connection.execute(0, parameters, receiver: receiver)
            // The next statement waits, and the big result does not affect it.
            var few = PostgresParameters()
            few.append(Int32(2))
            let second = CountingReceiver()
            try connection.execute(0, few, receiver: second)
            try await connection.loop.wait { receiver.count >= 30 }
            #expect(!receiver.isComplete)
            try await holder.run(1)
            try await connection.loop.wait { second.isComplete }
            #expect(receiver.isComplete)
            #expect(receiver.count == 40)
            #expect(receiver.bytes == 4_000_000)
            #expect(second.count == 2)
            await holder.close(deadlineSeconds: 1)
        }
    }

    @Test func aBigResultArrivesWhole() async throws {
        let statement = PreparedStatement("SELECT repeat('x', 1000) FROM generate_series(1, 10000)")
        try await withConnection([statement]) { connection in
            try await connection.waitUntilReady()
            #expect(try await connection.run(0) { $0.count } == 10_000)
        }
    }

    @Test func anOutdatedPlanIsPreparedAgain() async throws {
        let server = try #require(PostgresServerTrait.server)
        try await server.sql("CREATE TABLE plan (n int); GRANT ALL ON plan TO martlet")
        try await withConnection([PreparedStatement("SELECT * FROM public.plan")]) { connection in
            try await connection.waitUntilReady()
            try await connection.run(0)
            try await server.sql("ALTER TABLE plan ADD COLUMN m int")
            #expect(await connection.error(of: 0)?.outcome == .stalePlan)
            try await connection.run(0)
            #expect(connection.isReady)
        }
    }

    @Test func aLockedRowFailsInTime() async throws {
        let server = try #require(PostgresServerTrait.server)
        try await server.sql("CREATE TABLE locked (n int); GRANT ALL ON locked TO martlet")
        let statements = [PreparedStatement("SELECT n FROM public.locked")]
        try await withConnection(statements, Self.withLockLimit) { connection in
            try await connection.waitUntilReady()
            let holder = Task { try await server.sql("BEGIN; LOCK TABLE locked; SELECT pg_sleep(3600)") }
            try await poll(until: "the table is locked") {
                let locks =
                    "SELECT count(*) FROM pg_locks WHERE relation = 'locked'::regclass AND mode LIKE 'AccessExcl%'"
                return try await server.sql(locks) == ["1"]
            }
            let error = await connection.error(of: 0)
            #expect(error?.outcome == .lockTimeout)
            #expect(error?.isRetriable == true)
            #expect(connection.isReady)
            try await server.endSleepingSessions()
            await #expect(throws: ProcessError.self) { try await holder.value }
            try await connection.run(0)
        }
    }

    @Test func aSlowStatementIsCanceled() async throws {
        let statements = [PreparedStatement("SELECT pg_catalog.pg_sleep(3600)"), PreparedStatement("SELECT 1")]
        try await withConnection(statements, Self.withStatementLimit) { connection in
            try await connection.waitUntilReady()
            #expect(await connection.error(of: 0)?.state?.description == "57014")
            try await connection.run(1)
            #expect(connection.isReady)
        }
    }
}

/// A receiver that counts the rows and bytes of a result that arrives row by row.
private final class CountingReceiver: StatementReceiver {
    private(set) var count = 0
    private(set) var bytes = 0
    private(set) var isComplete = false

    override func received(row: borrowing PostgresRows) {
        count += 1
        bytes += row.withBytes(row: 0, column: 0) { $0?.count ?? 0 }
    }

    override func completed(_ rows: borrowing PostgresRows) { isComplete = rows.count == 0 }
}
