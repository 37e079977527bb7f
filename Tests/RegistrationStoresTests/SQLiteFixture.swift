import Crypto
import EventLoop
import RegistrationStores
import Registrations
import SQLite
import TestKit

/// An SQLite store in a temporary file.
struct SQLiteFixture: StoreFixture {
    /// The application ID and the version of the store's schema, without its SQL.
    static let schema = SQLiteSchema(application: 0x4d74_6c74, steps: [""])

    let directory: TemporaryDirectory
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
            let select = try file.prepare("SELECT key_id, ciphertext FROM registration WHERE token_key = ?")
            let update = try file.prepare(
                "UPDATE registration SET key_id = ?1, ciphertext = ?2 WHERE token_key = ?3")
            let keys = [first, second].map { Self.blob($0.token) }
            var values: [(keyID: Int64?, ciphertext: [UInt8]?)] = []
            for key in keys {
                select.bind(1, blob: key)
                try select.forEachRow { row throws(SQLiteError) in
                    values.append((try row.int64OrNil(0), try row.blobOrNil(1)))
                }
            }
            for (key, value) in zip(keys, values.reversed()) {
                update.bind(1, int64: value.keyID)
                update.bind(2, blob: value.ciphertext)
                update.bind(3, blob: key)
                try update.run()
            }
        }
    }

    func makeUnknown(_ token: UUIDValue) async throws {
        try withFile { file throws(SQLiteError) in
            let update = try file.prepare("UPDATE registration SET kind = 99 WHERE token_key = ?")
            update.bind(1, blob: Self.blob(token))
            try update.run()
        }
    }

    private static func blob(_ key: UUIDValue) -> [UInt8] {
        withUnsafeBytes(of: (key.high.bigEndian, key.low.bigEndian)) { Array($0) }
    }

    /// Calls `body` with the file, which is opened without its store.
    func withFile(_ body: (SQLiteFile) throws(SQLiteError) -> Void) throws(SQLiteError) {
        let file = try SQLiteFile.open(path, .readWrite, schema: Self.schema)
        defer { file.close() }
        try body(file)
    }
}

extension StoreClient {
    convenience init(_ store: SQLiteStore, on loop: EpollLoop) {
        self.init(reader: store.reader(on: loop), writer: store.writer(on: loop), on: loop)
    }
}
