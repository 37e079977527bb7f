import ControlProtocol
import Crypto
import Registrations
import SQLite

/// A segment that is open for writing.
final class SegmentWriter {
    let number: Int
    private let file: SQLiteFile
    private let cipher: SegmentCipher
    private let words: WordTable
    private let insertion: SQLiteStatement
    private let sampleInsertion: SQLiteStatement
    private let metaUpdate: SQLiteStatement
    private(set) var rows: Int
    private(set) var firstAt: Int64?
    private(set) var lastAt: Int64?
    private(set) var nextOffset: Int64?
    /// The number of the stream to which the offset belongs.
    private(set) var stream: Int64
    private var mustRebuild: Bool

    /// Opens or creates a segment.
    ///
    /// - Throws: ``SQLiteError``, such as `missingKey` if the key file lacks the key of the segment.
    init(_ folder: HistoryFolder, _ number: Int, _ keys: RegistrationKeys) throws(SQLiteError) {
        self.number = number
        file = try SQLiteFile.open(folder.segmentPath(number), .readWrite, schema: .segment)
        do throws(SQLiteError) {
            var meta = try SegmentMeta(file)
            if meta.keyID == nil { try Self.begin(file, keys, &meta) }
            cipher = try meta.cipher(keys, file.path)
            (rows, firstAt, lastAt) = (meta.rows, meta.firstAt, meta.lastAt)
            (nextOffset, stream, mustRebuild) = (meta.nextOffset, meta.stream, meta.mustRebuild)
            words = try WordTable(file)
            insertion = try file.prepare(
                """
                INSERT INTO line (at, kind, id_high, id_low, app, outcome, code, worker, queue, token_prefix, token_key,
                  user_key, identity, status, attempts, received, sent, published, push_type, flags, details)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
            sampleInsertion = try file.prepare(
                "INSERT INTO sample (at, grp, id_high, id_low, token_key, user_key, content) VALUES (?, ?, ?, ?, ?, ?, ?)"
            )
            metaUpdate = try file.prepare(
                "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        } catch {
            file.close()
            throw error
        }
    }

    private static func begin(
        _ file: SQLiteFile, _ keys: RegistrationKeys, _ meta: inout SegmentMeta
    ) throws(SQLiteError) {
        let random = try SQLiteError.withCrypto { () throws(CryptoError) in try UUIDValue.random() }
        (meta.keyID, meta.salt) = (keys.activeKeyID, Int64(bitPattern: random.high))
        let statement = try file.prepare("INSERT INTO meta (name, value) VALUES (?, ?)")
        try file.transaction { () throws(SQLiteError) in
            for (name, value) in [("key_id", Int64(keys.activeKeyID)), ("salt", meta.salt ?? 0)] {
                statement.bind(1, text: name)
                statement.bind(2, int64: value)
                try statement.run()
            }
        }
    }

    /// Stores lines, samples and the offset behind their messages in one transaction. After an error, close the
    /// segment.
    ///
    /// - Parameter now: UNIX milliseconds.
    func store(
        _ lines: [IndexedLine], _ samples: [IndexedSample], nextOffset: Int64, stream: Int64, at now: Int64
    ) throws(SQLiteError) {
        try file.transaction { () throws(SQLiteError) in
            for line in lines { try insert(line) }
            for sample in samples { try insert(sample) }
            let count = lines.count + samples.count
            rows += count
            if count > 0 { (firstAt, lastAt) = (firstAt ?? now, now) }
            (self.nextOffset, self.stream) = (nextOffset, stream)
            try set("stream", stream)
            try set("rows", Int64(rows))
            try set("next_offset", nextOffset)
            if let firstAt { try set("first_at", firstAt) }
            if let lastAt { try set("last_at", lastAt) }
        }
    }

    private func set(_ name: String, _ value: Int64) throws(SQLiteError) {
        metaUpdate.bind(1, text: name)
        metaUpdate.bind(2, int64: value)
        try metaUpdate.run()
    }

    private func insert(_ indexed: IndexedLine) throws(SQLiteError) {
        let line = indexed.line
        let identity = RowIdentity(deviceToken: line.deviceToken, user: line.user)
        let sealed: [UInt8]? = try SQLiteError.withCrypto { () throws(CryptoError) in
            identity.isEmpty ? nil : try cipher.seal(identity.bytes, of: line.id)
        }
        let app = try words.numberOrNil(of: line.app)
        let code = try words.numberOrNil(of: line.code)
        let worker = try words.numberOrNil(of: line.worker)
        insertion.bind(1, int64: line.at)
        insertion.bind(3, id: line.id)
        insertion.bind(5, int64: app)
        insertion.bind(7, int64: code)
        insertion.bind(8, int64: worker)
        insertion.bind(10, int64: line.deviceToken.flatMap { TokenPrefix($0)?.numbers.lowerBound })
        insertion.bind(11, int64: indexed.token?.column)
        insertion.bind(12, int64: indexed.user?.column)
        insertion.bind(13, blob: sealed)
        switch line {
        case .result(let result): try bind(result)
        case .wait(let wait, _): try bind(wait)
        }
        try insertion.run()
    }

    private func bind(_ result: ResultRecord) throws(SQLiteError) {
        var details = LineDetails()
        (details.failure, details.history) = (result.failure, result.history)
        if result.reason != result.code { details.reason = result.reason }
        insertion.bind(2, int: SegmentLine.result)
        insertion.bind(6, int: ResultRecord.outcomes.firstIndex(of: result.outcome))
        insertion.bind(9, int64: try words.numberOrNil(of: result.queue))
        insertion.bind(14, int: result.status)
        insertion.bind(15, int: result.attempts)
        insertion.bind(16, int64: result.receivedAt.map { result.finishedAt - $0 })
        insertion.bind(17, int64: result.sentAt.map { result.finishedAt - $0 })
        insertion.bind(18, int64: result.publishedAt.map { result.finishedAt - $0 })
        insertion.bind(19, int64: try words.numberOrNil(of: result.pushType))
        insertion.bind(20, int: SegmentLine.flags(result))
        insertion.bind(21, blob: details.bytes)
    }

    private func bind(_ wait: JournalWait) throws(SQLiteError) {
        var details = LineDetails()
        (details.sentence, details.until) = (wait.sentence, wait.until)
        insertion.bind(2, int: SegmentLine.wait)
        insertion.bind(9, int64: try words.numberOrNil(of: wait.queue))
        insertion.bind(15, int: wait.attempts)
        insertion.bind(21, blob: details.bytes)
    }

    private func insert(_ indexed: IndexedSample) throws(SQLiteError) {
        let sample = indexed.sample
        let sealed = try SQLiteError.withCrypto { () throws(CryptoError) in
            try cipher.seal(SampleContent.bytes(of: sample), of: sample.id)
        }
        sampleInsertion.bind(1, int64: sample.at)
        sampleInsertion.bind(2, int64: indexed.group)
        sampleInsertion.bind(3, id: sample.id)
        sampleInsertion.bind(5, int64: indexed.token?.column)
        sampleInsertion.bind(6, int64: indexed.user?.column)
        sampleInsertion.bind(7, blob: sealed)
        try sampleInsertion.run()
    }

    /// Deletes the rows of a subject and their bytes. Returns their number. After an error, a repeated call deletes the
    /// remaining bytes.
    ///
    /// SQLite overwrites deleted rows (`secure_delete`), but not the copies of their keys in the free space of pages
    /// between which it has moved keys before. The file is therefore rebuilt.
    func erase(_ subject: HistorySubject, _ key: HistoryKey) throws(SQLiteError) -> Int {
        let erasure = try SegmentErasure(file)
        let count = try file.transaction { () throws(SQLiteError) in
            let count = try erasure.run(subject, key)
            if count > 0 { try set("must_rebuild", 1) }
            return count
        }
        if count > 0 { mustRebuild = true }
        if mustRebuild {
            try file.execute("VACUUM")
            try set("must_rebuild", 0)
            mustRebuild = false
        }
        try file.emptyWAL()
        return count
    }

    func close() { file.close() }
}
