import Crypto
import Registrations
import SQLite

extension SQLiteSession {
    /// The claimed events of a round, whether no work remains, and the data key of omitted rows or events.
    typealias Round = (events: [StoredEvent], isComplete: Bool, missingKey: MissingDataKey?)

    /// Runs one round of maintenance.
    func maintain(_ rules: RegistrationRules, rowsMax: Int) throws(SQLiteError) -> Round {
        let claims = try events.claim(now: rules.now, countMax: rowsMax)
        // No data key is missing here, because the statement omits events of missing data keys.
        let events = claims.compactMap {
            try? coder.event(id: $0.id, sealed: $0.sealed, mayBeDuplicate: $0.wasHandedOut)
        }
        let expiredCount = try expire(rules, rowsMax: rowsMax)
        let time = rules.now - RegistrationRules.tombstoneMillisecondsMax
        let rowCount = try rows.delete(endedBefore: time, countMax: rowsMax)
        let markCount = try marks.delete(before: time, countMax: rowsMax)
        let missingKey = try omittedKeys.missingKey(now: rules.now, countMax: rowsMax)
        return (events, max(claims.count, expiredCount, rowCount, markCount) < rowsMax, missingKey)
    }

    /// Ends expired rows, and returns their number.
    private func expire(_ rules: RegistrationRules, rowsMax: Int) throws(SQLiteError) -> Int {
        let keys = try rows.keys(expiringUntil: rules.now, countMax: rowsMax)
        guard !keys.isEmpty else { return 0 }
        var apps = try apps.all()
        let stored = try stored(keys, apps)
        let change = rules.expire(stored.lazy.map(\.registration))
        try write(change, replacing: Dictionary(uniqueKeysWithValues: stored.map { ($0.row.key, $0) }), &apps)
        _ = try store(change.expirations, at: rules.now, isHandedOut: false)
        return change.rows.count
    }

    /// The arguments of `RegistrationPage.completed` for a page.
    typealias PageContent = (registrations: [Registration], last: Registration.Key?)

    func read(
        _ filter: RegistrationPage.Filter, after: Registration.Key?, rowsMax: Int
    ) throws(SQLiteError) -> PageContent {
        let apps = try apps.all()
        let keys: [Registration.Key]
        switch filter {
        case .all: keys = try rows.keys(after: after, app: nil, countMax: rowsMax)
        case .app(let name):
            guard let app = apps.number(of: name) else { return ([], nil) }
            keys = try rows.keys(after: after, app: app, countMax: rowsMax)
        case .user(let user, let app):
            let names = app.map { [$0] } ?? Array(apps.names.values)
            keys = Array(try self.keys(ofUser: user, in: names, after: after).prefix(rowsMax))
        }
        return (try stored(keys, apps).map(\.registration), keys.count < rowsMax ? nil : keys.last)
    }

    /// Returns the keys of the live rows of a user after a key, in order.
    private func keys(
        ofUser user: String, in apps: [String], after: Registration.Key?
    ) throws(SQLiteError) -> [Registration.Key] {
        var keys: [Registration.Key] = []
        for app in apps {
            let userKey = try Self.withCrypto { () throws(CryptoError) in try index.userKey(app: app, user: user) }
            keys += try rows.keys(ofUser: userKey)
        }
        guard let after else { return keys.sorted() }
        return keys.filter { $0 > after }.sorted()
    }

    /// The arguments of `EditPage.completed` for a page.
    typealias EditResult = (last: Registration.Key?, editedCount: Int, unreadableCount: Int)

    func edit(_ edit: EditPage.Edit, after: Registration.Key?, rowsMax: Int) throws(SQLiteError) -> EditResult {
        let keys = try rows.keys(after: after, app: nil, countMax: rowsMax)
        let apps = try apps.all()
        let unreadableCount = coder.unreadableCount
        var editedCount = 0
        for key in keys {
            guard let row = try rows.row(key), let edited = try edited(row, edit, apps) else { continue }
            try rows.write(edited, replacing: row)
            editedCount += 1
        }
        return (keys.count < rowsMax ? nil : keys.last, editedCount, coder.unreadableCount - unreadableCount)
    }

    /// Returns the row after the edit; nil if the edit does not change the row, or if the row cannot be decrypted.
    private func edited(
        _ row: StoredRow, _ edit: EditPage.Edit, _ apps: SQLiteAppStatements.Apps
    ) throws(SQLiteError) -> StoredRow? {
        switch edit {
        case .rekey: return try Self.withCrypto { () throws(CryptoError) in try coder.rekeyed(row) }
        case .unsuspend(let app):
            guard row.suspicions > 0, row.app == apps.number(of: app) else { return nil }
            var row = row
            (row.suspicions, row.suspectSince) = (0, nil)
            return row
        }
    }
}
