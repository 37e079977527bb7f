import Testing

@testable import PostgreSQL

@Suite struct PostgresErrorTests {
    @Test(
        arguments: [
            ("08006", .unreachable), ("57P01", .unreachable), ("57014", .unreachable), ("28P01", .refused),
            ("28000", .refused), ("42P01", .schema), ("42501", .privilegeMissing),
            ("3D000", .databaseMissing), ("3F000", .schema), ("0P000", .refused), ("26000", .sharedSession),
            ("42P05", .sharedSession), ("53100", .full),
            ("53300", .full), ("22012", .data), ("23505", .data), ("40001", .retry), ("40P01", .retry),
            ("40003", .other), ("25006", .readOnly), ("25P02", .other), ("55P03", .lockTimeout), ("55000", .other),
            ("0A000", .stalePlan), ("XX000", .other),
        ] as [(String, SQLState.Outcome)])
    func outcomes(text: String, outcome: SQLState.Outcome) throws {
        let state = try #require(SQLState(text))
        #expect(state.outcome == outcome)
        #expect(state.description == text)
        #expect(state.classText == String(text.prefix(2)))
        #expect(PostgresError(state).outcome == outcome)
    }

    @Test(arguments: ["", "0000", "000000", "4000a", "40 01", "4000\u{e9}"])
    func invalidStates(text: String) {
        #expect(SQLState(text) == nil)
    }

    @Test func messagesNameStateAndConstraint() throws {
        let error = PostgresError(try #require(SQLState("23505")), constraint: "token_key")
        #expect(error.message == "values refused: SQLSTATE 23505 (constraint token_key)")
        #expect(!error.isRetriable)
        let located = error.at(.socket(directory: "/run", port: 1))
        #expect(located.message == "/run/.s.PGSQL.1: values refused: SQLSTATE 23505 (constraint token_key)")
        #expect(located.state == error.state)
    }

    @Test func statesOfConnectMessages() throws {
        func state(_ text: String) -> String? { PostgresHandle.state(inMessage: text.utf8)?.description }
        #expect(state("connection to server at \"::1\", port 5432 failed: FATAL:  28P01\n") == "28P01")
        #expect(state("FATAL:  3D000") == "3D000")
        #expect(state("connection to server failed: Connection refused\n") == nil)
        #expect(state("server closed the connection: 28P01\n") == nil)
        #expect(state("28P01") == nil)
        #expect(state("") == nil)
    }

    @Test func olderLibrariesAreRefused() {
        #expect(PostgresLibrary.failure(ofVersion: 140_000) == nil)
        let error = PostgresLibrary.failure(ofVersion: 130_012)
        #expect(error?.message.contains("13.12") == true)
        #expect(error?.message.contains("libpq5") == true)
    }

    @Test func theInstalledLibraryIsUsable() throws {
        #expect(try PostgresLibrary.version().split(separator: ".").first.flatMap { Int($0) } ?? 0 >= 14)
    }
}
