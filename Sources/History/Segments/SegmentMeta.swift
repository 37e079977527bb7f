import Crypto
import Registrations
import SQLite

/// The values of a segment's table `meta`.
struct SegmentMeta {
    var keyID: Int?
    var salt: Int64?
    var rows = 0
    var firstAt: Int64?
    var lastAt: Int64?
    /// The offset behind the messages whose rows the segment contains.
    var nextOffset: Int64?
    /// The number of the stream to which the offset belongs.
    var stream: Int64
    /// Whether rows were erased since the file was built.
    var mustRebuild = false

    init(_ file: SQLiteFile) throws(SQLiteError) {
        let selection = try file.prepare("SELECT name, value FROM meta")
        var values: [String: Int64] = [:]
        try selection.forEachRow { row throws(SQLiteError) in values[try row.text(0)] = try row.int64(1) }
        keyID = values["key_id"].flatMap { Int(exactly: $0) }
        salt = values["salt"]
        rows = values["rows"].flatMap { Int(exactly: $0) } ?? 0
        stream = values["stream"] ?? 0
        mustRebuild = values["must_rebuild"] == 1
        (firstAt, lastAt, nextOffset) = (values["first_at"], values["last_at"], values["next_offset"])
    }

    /// - Throws: ``SQLiteError`` of code `missingKey` if the key file lacks the data key, `memory` if OpenSSL fails.
    func cipher(_ keys: RegistrationKeys, _ path: String) throws(SQLiteError) -> SegmentCipher {
        let cipher = try SQLiteError.withCrypto { () throws(CryptoError) in
            try SegmentCipher(keys, keyID: keyID ?? 0, salt: salt ?? 0)
        }
        guard let cipher else {
            throw SQLiteError(
                .missingKey,
                "cannot use \(path): the key file lacks data key \(keyID ?? 0); add the key to the key file again")
        }
        return cipher
    }
}
