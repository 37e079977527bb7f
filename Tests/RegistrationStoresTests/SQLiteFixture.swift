import Crypto
import EventLoop
import RegistrationStores
import Registrations
import SQLite
import TestKit

/// A store in a temporary file.
struct SQLiteFixture: StoreFixture {
    /// The version of the file, without the SQL that leads to it.
    static let schema = SQLiteSchema(application: 0x4d74_6c74, steps: [""])

    private let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory("store")
        path = directory.file("registrations.db")
    }

    func open(_ keys: RegistrationKeys, on loop: EpollLoop) throws -> StoreClient {
        StoreClient(SQLiteStore(path: path, keys: keys), on: loop)
    }

    func exchangeCiphertexts(_ first: Registration.Key, _ second: Registration.Key) async throws {
        try withFile { file throws(SQLiteError) in
            let update = try file.prepare(
                """
                UPDATE registration SET ciphertext = other.ciphertext FROM registration AS other
                WHERE registration.token_key = ?1 AND other.token_key = ?2
                """)
            let select = try file.prepare("SELECT ciphertext FROM registration WHERE token_key = ?")
            let set = try file.prepare("UPDATE registration SET ciphertext = ?2 WHERE token_key = ?1")
            select.bind(1, blob: Self.bytes(of: first))
            let ciphertext = try select.firstRow { row throws(SQLiteError) in try row.blob(0) }
            update.bind(1, blob: Self.bytes(of: first))
            update.bind(2, blob: Self.bytes(of: second))
            try update.run()
            set.bind(1, blob: Self.bytes(of: second))
            set.bind(2, blob: ciphertext)
            try set.run()
        }
    }

    /// Opens the file without its store.
    func withFile(_ body: (SQLiteFile) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let file = try SQLiteFile.open(path, .readWrite, schema: Self.schema)
        defer { file.close() }
        try body(file)
    }

    private static func bytes(of key: Registration.Key) -> [UInt8] {
        withUnsafeBytes(of: (key.token.high.bigEndian, key.token.low.bigEndian)) { Array($0) }
    }
}

extension StoreClient {
    convenience init(_ store: SQLiteStore, on loop: EpollLoop) {
        self.init(reader: store.reader(on: loop), writer: store.writer(on: loop), on: loop)
    }
}
