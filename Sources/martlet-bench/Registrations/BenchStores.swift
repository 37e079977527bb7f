import EventLoop
import PostgreSQL
import RegistrationStores
import TestKit

/// A private PostgreSQL server and the path of an SQLite file, with a key file for both.
struct BenchStores {
    /// The database that the benchmark fills and uses.
    static let database = "filled"

    let postgres: PrivatePostgres
    let directory: TemporaryDirectory
    var keys: String { directory.file("keys.json") }

    init() async throws {
        directory = try TemporaryDirectory("stores")
        postgres = try await PrivatePostgres(isDurable: true)
        try await MartletProcess.run("registrations", "keys", keys)
    }

    func end() async throws { try await postgres.end() }

    /// The address of the SQLite store.
    var sqlite: String { "sqlite:\(directory.file("store.db"))" }

    /// Returns the address of the store in a database of the server. All clients connect to the Unix socket, which
    /// needs no password.
    func postgresql(_ database: String = Self.database) -> String {
        "postgresql://\(PrivatePostgres.user)@:\(postgres.port)/\(database)?host=\(postgres.directory)"
    }

    /// The connection string of libpq for the filled database.
    var libpqAddress: String {
        "host=\(postgres.directory) port=\(postgres.port) user=\(PrivatePostgres.user) dbname=\(Self.database)"
    }

    /// Returns the line of a worker's configuration for a store.
    func configuration(_ store: String) -> String { "registrations: {store: \"\(store)\", keys_file: \"\(keys)\"}" }

    /// Creates an empty database with the schema, and replaces an earlier one.
    func createDatabase(_ name: String) async throws {
        try await postgres.sql("DROP DATABASE IF EXISTS \(name)")
        try await postgres.sql("CREATE DATABASE \(name) OWNER \(PrivatePostgres.user)")
        let url = try PostgresURL(postgresql(name))
        try await onEpollLoop { loop in
            _ = try await PostgresMigrations(loop: loop, url: url, password: { nil }).migrate(workerRole: nil)
        }
    }
}
