import Crypto
import SQLite

/// The statements that delete the rows of a subject from a segment.
///
/// The headers of a sample, or a list in its body, may name a user without a user key. An erasure of a user thus also
/// deletes the samples without a user key, and that of a device those without a token key.
struct SegmentErasure {
    private let byToken: [SQLiteStatement]
    private let byUser: [SQLiteStatement]
    private let byID: [SQLiteStatement]

    init(_ file: SQLiteFile) throws(SQLiteError) {
        byToken = [
            try file.prepare("DELETE FROM line WHERE token_prefix BETWEEN ? AND ? AND token_key = ?"),
            try file.prepare(
                "DELETE FROM line WHERE token_prefix IS NULL AND token_key = ?3 AND ?1 IS ?1 AND ?2 IS ?2"),
            try file.prepare(
                "DELETE FROM sample WHERE (token_key = ?3 OR token_key IS NULL) AND ?1 IS ?1 AND ?2 IS ?2"),
        ]
        byUser = [
            try file.prepare("DELETE FROM line WHERE user_key = ?"),
            try file.prepare("DELETE FROM sample WHERE user_key = ? OR user_key IS NULL"),
        ]
        byID = [
            try file.prepare("DELETE FROM line WHERE id_high = ? AND id_low = ?"),
            try file.prepare("DELETE FROM sample WHERE id_high = ? AND id_low = ?"),
        ]
    }

    func run(_ subject: HistorySubject, _ key: HistoryKey) throws(SQLiteError) -> Int {
        var count = 0
        switch subject {
        case .token(let token):
            let prefix = TokenPrefix(token)?.numbers.lowerBound
            for statement in byToken {
                statement.bind(1, int64: prefix)
                statement.bind(2, int64: prefix)
                statement.bind(3, int64: key.column)
                count += try statement.run()
            }
        case .user:
            for statement in byUser {
                statement.bind(1, int64: key.column)
                count += try statement.run()
            }
        case .id(let id):
            for statement in byID {
                statement.bind(1, id: id)
                count += try statement.run()
            }
        }
        return count
    }
}
