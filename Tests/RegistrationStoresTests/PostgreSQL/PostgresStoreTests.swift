import Testing

@Suite(.serialized, .postgres) struct PostgresStoreTests {
    @Test(arguments: StoreCheck.all)
    func `PostgreSQL passes the checks of every store`(check: StoreCheck) async throws {
        try await check.run(try await PostgresFixture())
    }
}
