import Registrations
import TestKit

extension SystemFixture.Options {
    private static let keysFile = "store.keys.json"
    private static let passwordFile = "store.password"

    /// Configures a store in a file.
    mutating func useSQLite(_ path: String) throws { try useStore("sqlite:\(path)") }

    /// Configures a store in PostgreSQL.
    ///
    /// - Parameter servers: The servers, of which one accepts writes.
    mutating func usePostgres(_ servers: PrivatePostgres...) throws {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        secrets[Self.passwordFile] = PrivatePostgres.password
        try useStore(
            "postgresql://\(PrivatePostgres.user)@\(hosts)/\(PrivatePostgres.database)",
            ", password_file: \(Self.passwordFile)")
    }

    private mutating func useStore(_ address: String, _ more: String = "") throws {
        secrets[Self.keysFile] = String(decoding: try RegistrationKeys.generatedFile(), as: UTF8.self)
        sections.append("registrations: {store: \"\(address)\", keys_file: \(Self.keysFile)\(more)}")
    }
}

extension SystemFixture {
    /// Creates the schema of a PostgreSQL store.
    func migrateStore() async throws {
        try await MartletProcess.run("registrations", "migrate", "--config", configuration)
    }

    /// Imports the registrations of users. No worker may use an SQLite store during the import.
    func importUsers(_ users: [StoreUser]) async throws {
        let file = try directory.write("users.csv", StoreUser.csv(users))
        try await MartletProcess.run("registrations", "import", "--config", configuration, file)
    }
}
