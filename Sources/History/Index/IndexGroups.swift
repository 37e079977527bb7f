import SQLite

/// The statements that count dead letters by cause.
struct IndexGroups {
    private let count: SQLiteStatement
    private let update: SQLiteStatement
    private let insertion: SQLiteStatement
    private let hourUpdate: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        count = try file.prepare("SELECT count(*) FROM dead_group")
        update = try file.prepare(
            """
            UPDATE dead_group SET count = count + ?2, first_at = min(first_at, ?3), last_at = max(last_at, ?4)
            WHERE n = ?1
            """)
        insertion = try file.prepare(
            "INSERT INTO dead_group (n, class, code, app, path, count, first_at, last_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        )
        hourUpdate = try file.prepare(
            """
            INSERT INTO dead_hour (grp, hour, count) VALUES (?, ?, ?)
            ON CONFLICT (grp, hour) DO UPDATE SET count = count + excluded.count
            """)
    }

    func store(_ groups: [Int64: HistoryChanges.Group]) throws(SQLiteError) {
        for (number, group) in groups where try store(number, group) {
            for (hour, count) in group.hours {
                hourUpdate.bind(1, int64: number)
                hourUpdate.bind(2, int64: hour)
                hourUpdate.bind(3, int: count)
                try hourUpdate.run()
            }
        }
    }

    /// Returns false if the group is new and there are too many groups.
    private func store(_ number: Int64, _ group: HistoryChanges.Group) throws(SQLiteError) -> Bool {
        update.bind(1, int64: number)
        update.bind(2, int: group.count)
        update.bind(3, int64: group.firstAt)
        update.bind(4, int64: group.lastAt)
        if try update.run() > 0 { return true }
        let known = try count.firstRow { row throws(SQLiteError) in try row.int(0) } ?? 0
        guard known < HistoryLimits.groupsMax else { return false }
        insertion.bind(1, int64: number)
        insertion.bind(2, text: group.cause.failureClass)
        insertion.bind(3, text: group.cause.code)
        insertion.bind(4, text: group.cause.app)
        insertion.bind(5, text: group.cause.path)
        insertion.bind(6, int: group.count)
        insertion.bind(7, int64: group.firstAt)
        insertion.bind(8, int64: group.lastAt)
        try insertion.run()
        return true
    }
}
