import Crypto
import SQLite

/// The queries of the index. Each method runs within a transaction of the caller.
final class IndexReader {
    private let words: WordTable
    private let offset: SQLiteStatement
    private let minutes: SQLiteStatement
    private let accepted: SQLiteStatement
    private let gaps: SQLiteStatement
    private let boots: SQLiteStatement
    private let groups: SQLiteStatement
    private let hours: SQLiteStatement
    private let waits: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        words = try WordTable(file)
        offset = try file.prepare("SELECT value FROM meta WHERE name = 'next_offset'")
        minutes = try file.prepare(
            "SELECT app, outcome, code, sum(count) FROM minute WHERE minute >= ? GROUP BY app, outcome, code")
        accepted = try file.prepare("SELECT app, at FROM accepted")
        gaps = try file.prepare(
            """
            SELECT worker, from_at, until_at, reason, count FROM gap WHERE from_at <= ? AND until_at >= ?
            ORDER BY n DESC LIMIT ?
            """)
        boots = try file.prepare("SELECT id_high, id_low, worker, sequence, last_at, state FROM boot WHERE state = 0")
        groups = try file.prepare(
            "SELECT n, class, code, app, path, count, first_at, last_at FROM dead_group ORDER BY last_at DESC LIMIT ?")
        hours = try file.prepare("SELECT hour, count FROM dead_hour WHERE grp = ? AND hour > ?")
        waits = try file.prepare(
            "SELECT code, app, count(*), min(at) FROM open_wait GROUP BY code, app ORDER BY count(*) DESC LIMIT ?")
    }

    func refresh() throws(SQLiteError) { try words.load() }

    func nextOffset() throws(SQLiteError) -> Int64? {
        try offset.firstRow { row throws(SQLiteError) in try row.int64(0) }
    }

    /// Returns the figures since a time, ordered by app.
    func apps(since time: Int64) throws(SQLiteError) -> [AppFigures] {
        var apps: [String: AppFigures] = [:]
        try accepted.forEachRow { row throws(SQLiteError) in
            guard let app = words.text(try row.int64(0)) else { return }
            apps[app] = AppFigures(app: app, lastAcceptedAt: try row.int64(1))
        }
        minutes.bind(1, int64: time / 60_000)
        try minutes.forEachRow { row throws(SQLiteError) in
            guard let app = words.text(try row.int64(0)), !app.isEmpty else { return }
            let count = try row.int(3)
            let isGone = words.text(try row.int64(2)).map { AppFigures.goneCodes.contains($0) } ?? false
            var figures = apps[app] ?? AppFigures(app: app)
            switch try row.int(1) {
            case 0: figures.accepted += count
            case 1: figures.refused += count
            default: figures.failed += count
            }
            if isGone { figures.gone += count }
            apps[app] = figures
        }
        return apps.values.sorted { $0.app < $1.app }
    }

    /// Returns the gaps that concern a time range, including those of silent processes.
    func gaps(in range: ClosedRange<Int64>, at now: Int64) throws(SQLiteError) -> [HistoryGap] {
        gaps.bind(1, int64: range.upperBound)
        gaps.bind(2, int64: range.lowerBound)
        gaps.bind(3, int: HistoryLimits.gapsMax)
        let known = try gaps.rows { row throws(SQLiteError) in
            HistoryGap(
                worker: try row.text(0), from: try row.int64(1), until: try row.int64(2),
                reason: HistoryGap.Reason(rawValue: try row.text(3)) ?? .missing, count: try row.intOrNil(4))
        }
        let running = try boots.rows { row throws(SQLiteError) in try IndexBoots.boot(row) }
        return known + JournalSequences(running).silences(at: now).filter { $0.concerns(range) }
    }

    func groups(at now: Int64, limit: Int) throws(SQLiteError) -> [DeadLetterGroup] {
        groups.bind(1, int: limit)
        var found = try groups.rows { row throws(SQLiteError) in
            DeadLetterGroup(
                number: try row.int64(0),
                cause: DeadLetterCause(
                    failureClass: try row.text(1), code: try row.text(2), app: try row.textOrNil(3),
                    path: try row.textOrNil(4)),
                count: try row.int(5), firstAt: try row.int64(6), lastAt: try row.int64(7),
                hours: [Int](repeating: 0, count: 24))
        }
        let oldest = now / 3_600_000 - 24
        for index in found.indices {
            hours.bind(1, int64: found[index].number)
            hours.bind(2, int64: oldest)
            try hours.forEachRow { row throws(SQLiteError) in
                let place = Int(try row.int64(0) - oldest - 1)
                if found[index].hours.indices.contains(place) { found[index].hours[place] += try row.int(1) }
            }
        }
        return found
    }

    func waits(limit: Int) throws(SQLiteError) -> [OpenWaits] {
        waits.bind(1, int: limit)
        return try waits.rows { row throws(SQLiteError) in
            OpenWaits(
                code: words.text(try row.int64(0)) ?? "", app: words.text(try row.int64(1)) ?? "",
                count: try row.int(2), oldestAt: try row.int64(3))
        }
    }
}
