import PostgreSQL
import RegistrationStores
import Testing

@Suite struct StoreAddressTests {
    @Test func `The address of a file is its absolute path`() throws {
        #expect(try StoreAddress("sqlite:/var/lib/martlet/a b.db") == .sqlite(path: "/var/lib/martlet/a b.db"))
    }

    @Test(arguments: ["sqlite:", "sqlite:a.db", "sqlite::memory:", "sqlite:///a.db", "sqlite:/a/", "sqlite:/a\u{0}"])
    func `A store without an absolute path is refused`(text: String) throws {
        #expect(throws: StoreAddress.Invalid.self) { try StoreAddress(text) }
    }

    @Test func `A URL of PostgreSQL needs a user, and no password`() throws {
        guard case .postgresql(let url) = try StoreAddress("postgresql://martlet@db.example.com/push") else {
            Issue.record("not PostgreSQL")
            return
        }
        #expect(url.endpoints.database == "push")
        let error = #expect(throws: StoreAddress.Invalid.self) {
            try StoreAddress("postgresql://martlet:secret@db.example.com/push")
        }
        #expect(error.map { $0.description.contains("password") && !$0.description.contains("secret") } == true)
    }

    @Test(arguments: ["", "mysql://a@b/c", "/var/lib/martlet/registrations.db"])
    func `Another text names both forms`(text: String) throws {
        let error = #expect(throws: StoreAddress.Invalid.self) { try StoreAddress(text) }
        #expect(error?.description.contains("sqlite:/PATH") == true)
    }
}
