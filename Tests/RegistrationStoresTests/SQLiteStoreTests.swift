import RegistrationStores
import Registrations
import Testing

@Suite struct SQLiteStoreTests {
    @Test(arguments: StoreCheck.all)
    func `The store passes each check`(_ check: StoreCheck) async throws {
        try await check.run(SQLiteFixture())
    }
}
