import ControlProtocol
import Crypto
import Registrations
import SQLite

/// A segment that is open for reading.
final class SegmentReader {
    let number: Int
    private let file: SQLiteFile
    private let cipher: SegmentCipher
    private let words: WordTable
    private let byID: SQLiteStatement
    private let byPosition: SQLiteStatement
    private let newest: SQLiteStatement
    private let byToken: SQLiteStatement
    private let byTokenPrefix: SQLiteStatement
    private let byUser: SQLiteStatement
    private let byCode: SQLiteStatement
    private let samplesOfGroup: SQLiteStatement

    /// The queries. Each finds its rows with an index, because a segment can have millions.
    enum Query {
        static let byID: StaticString = "SELECT * FROM line WHERE id_low = ?2 AND id_high = ?1 ORDER BY n DESC LIMIT ?3"
        static let byPosition: StaticString = "SELECT * FROM line WHERE n = ?"
        static let newest: StaticString = "SELECT * FROM line WHERE n < ?1 ORDER BY n DESC LIMIT ?2"
        // With IS instead of =, SQLite cannot use the partial index, since IS also matches NULL.
        static let byToken: StaticString = """
            SELECT * FROM line WHERE token_prefix = ?3 AND token_key = ?4 AND n < ?1 ORDER BY n DESC LIMIT ?2
            """
        static let byTokenPrefix: StaticString = """
            SELECT * FROM line WHERE token_prefix BETWEEN ?3 AND ?4 AND n < ?1 ORDER BY n DESC LIMIT ?2
            """
        static let byUser: StaticString = "SELECT * FROM line WHERE user_key = ?3 AND n < ?1 ORDER BY n DESC LIMIT ?2"
        static let byCode: StaticString = """
            SELECT * FROM line WHERE code = ?3 AND n < ?1 AND (?4 IS NULL OR app = ?4) ORDER BY n DESC LIMIT ?2
            """
        static let samplesOfGroup: StaticString = """
            SELECT id_high, id_low, content FROM sample WHERE grp = ? ORDER BY n DESC LIMIT ?
            """

        static let all = [byID, byPosition, newest, byToken, byTokenPrefix, byUser, byCode, samplesOfGroup]
    }

    init(_ folder: HistoryFolder, _ number: Int, _ keys: RegistrationKeys) throws(SQLiteError) {
        self.number = number
        file = try SQLiteFile.open(folder.segmentPath(number), .readOnly, schema: .segment)
        do throws(SQLiteError) {
            cipher = try SegmentMeta(file).cipher(keys, file.path)
            words = try WordTable(file)
            byID = try file.prepare(Query.byID)
            byPosition = try file.prepare(Query.byPosition)
            newest = try file.prepare(Query.newest)
            byToken = try file.prepare(Query.byToken)
            byTokenPrefix = try file.prepare(Query.byTokenPrefix)
            byUser = try file.prepare(Query.byUser)
            byCode = try file.prepare(Query.byCode)
            samplesOfGroup = try file.prepare(Query.samplesOfGroup)
        } catch {
            file.close()
            throw error
        }
    }

    func close() { file.close() }

    /// Reads the words that the writer has added.
    func refresh() throws(SQLiteError) { try words.load() }

    func lines(of id: UUIDValue, limit: Int) throws(SQLiteError) -> [HistoryRow] {
        byID.bind(1, id: id)
        byID.bind(3, int: limit)
        return try rows(byID)
    }

    func line(_ row: Int64) throws(SQLiteError) -> HistoryRow? {
        byPosition.bind(1, int64: row)
        return try rows(byPosition).first
    }

    /// Returns the rows of a query, newest first.
    ///
    /// - Parameter before: a position behind all rows to return.
    func rows(
        _ query: HistoryQuery, before row: Int64, limit: Int, _ hasher: HistoryHasher
    ) throws(SQLiteError) -> [HistoryRow] {
        let statement: SQLiteStatement
        switch query {
        case .id(let id):
            return try lines(of: id, limit: HistoryLimits.linesPerRequestMax).filter { $0.position.row < row }
        case .newest: statement = newest
        case .token(let token): return try rows(token: token, before: row, limit, hasher)
        case .user(let user):
            let key = try SQLiteError.withCrypto { () throws(CryptoError) in try hasher.key(user: user) }
            byUser.bind(3, int64: key.column)
            statement = byUser
        case .code(let code, let app):
            guard let number = words.known(code) else { return [] }
            let appNumber = app.flatMap { words.known($0) }
            guard app == nil || appNumber != nil else { return [] }
            byCode.bind(3, int64: number)
            byCode.bind(4, int64: appNumber)
            statement = byCode
        }
        statement.bind(1, int64: row)
        statement.bind(2, int: limit)
        return try rows(statement)
    }

    private func rows(
        token: String, before row: Int64, _ limit: Int, _ hasher: HistoryHasher
    ) throws(SQLiteError) -> [HistoryRow] {
        // A text that is no device token has no rows.
        guard let prefix = TokenPrefix(token)?.numbers else { return [] }
        let statement: SQLiteStatement
        if token.utf8.count <= TokenPrefix.digitsMax {
            statement = byTokenPrefix
            statement.bind(3, int64: prefix.lowerBound)
            statement.bind(4, int64: prefix.upperBound)
        } else {
            let key = try SQLiteError.withCrypto { () throws(CryptoError) in try hasher.key(token: token) }
            statement = byToken
            statement.bind(3, int64: prefix.lowerBound)
            statement.bind(4, int64: key.column)
        }
        statement.bind(1, int64: row)
        statement.bind(2, int: limit)
        return try rows(statement)
    }

    func samples(of group: Int64, limit: Int) throws(SQLiteError) -> [JournalSample] {
        samplesOfGroup.bind(1, int64: group)
        samplesOfGroup.bind(2, int: limit)
        let samples: [JournalSample?] = try samplesOfGroup.rows { row throws(SQLiteError) in
            cipher.open(try row.blob(2), of: try row.id(0)).flatMap { SampleContent.sample(in: $0) }
        }
        return samples.compactMap { $0 }
    }

    private func rows(_ statement: SQLiteStatement) throws(SQLiteError) -> [HistoryRow] {
        let rows: [HistoryRow?] = try statement.rows { row throws(SQLiteError) in try read(row) }
        return rows.compactMap { $0 }
    }

    /// Reads a row. Returns nil for an unknown kind or outcome, such as one of a later version.
    private func read(_ row: borrowing SQLiteRow) throws(SQLiteError) -> HistoryRow? {
        let position = HistoryPosition(segment: number, row: try row.int64(0))
        let id = try row.id(3)
        let identity = try row.blobOrNil(13).flatMap { cipher.open($0, of: id) }.flatMap { RowIdentity($0) }
        let details = try row.blobOrNil(21).map { LineDetails($0) } ?? LineDetails()
        switch try row.int(2) {
        case SegmentLine.result:
            guard let result = try result(row, id, identity, details) else { return nil }
            return HistoryRow(position: position, line: .result(result))
        case SegmentLine.wait:
            let at = try row.int64(1)
            let wait = JournalWait(
                at: at, id: id ?? UUIDValue(high: 0, low: 0), app: words.text(try row.int64OrNil(5)) ?? "",
                deviceToken: identity?.deviceToken, user: identity?.user,
                code: words.text(try row.int64OrNil(7)) ?? "", sentence: details.sentence,
                attempts: try row.intOrNil(15) ?? 0, queue: words.text(try row.int64OrNil(9)) ?? "",
                until: details.until ?? at)
            return HistoryRow(
                position: position, line: .wait(wait, worker: words.text(try row.int64OrNil(8)) ?? ""))
        default: return nil
        }
    }

    private func result(
        _ row: borrowing SQLiteRow, _ id: UUIDValue?, _ identity: RowIdentity?, _ details: LineDetails
    ) throws(SQLiteError) -> ResultRecord? {
        guard let outcome = try row.intOrNil(6), ResultRecord.outcomes.indices.contains(outcome) else { return nil }
        let at = try row.int64(1)
        var result = ResultRecord(
            outcome: ResultRecord.outcomes[outcome], finishedAt: at, attempts: try row.intOrNil(15) ?? 0)
        result.id = id
        (result.deviceToken, result.user) = (identity?.deviceToken, identity?.user)
        result.app = words.text(try row.int64OrNil(5))
        result.worker = words.text(try row.int64OrNil(8))
        result.queue = words.text(try row.int64OrNil(9))
        result.status = try row.intOrNil(14)
        result.receivedAt = try row.int64OrNil(16).map { at - $0 }
        result.sentAt = try row.int64OrNil(17).map { at - $0 }
        result.publishedAt = try row.int64OrNil(18).map { at - $0 }
        result.pushType = words.text(try row.int64OrNil(19))
        let flags = try row.intOrNil(20) ?? 0
        result.isDuplicate = flags & SegmentLine.duplicateFlag != 0
        result.isPossibleDuplicate = flags & SegmentLine.possibleDuplicateFlag != 0
        (result.failure, result.history) = (details.failure, details.history)
        let code = words.text(try row.int64OrNil(7))
        // A reason that equals the code is not stored. Without a response, APNs has given no reason.
        result.reason = details.reason ?? (outcome == 0 || result.status == nil ? nil : code)
        return result
    }
}
