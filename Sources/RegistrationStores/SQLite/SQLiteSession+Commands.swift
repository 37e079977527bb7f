import Crypto
import Registrations
import SQLite

extension SQLiteSession {
    /// Applies commands and then ends in their orders, and returns their outcomes.
    ///
    /// - Throws: ``SQLiteError``. The code is `value` if a command has values that cannot be encrypted.
    func apply(
        _ commands: [RegistrationCommand], _ ends: [StoredEnd], _ rules: RegistrationRules
    ) throws(SQLiteError) -> [CommandOutcome] {
        var apps = try apps.all()
        let keyed = try keyed(commands, apps) + ends.map { .restore($0) }
        let touched = TouchedKeys(keyed)
        let stored = try stored(touched, apps)
        try Self.withKeys { () throws(MissingDataKey) in try coder.requireKeys(of: stored.values.lazy.map(\.row)) }
        let change = rules.apply(
            keyed, to: stored.values.lazy.map(\.registration), marks: try marks.marks(touched.marks))
        try write(change, replacing: stored, &apps)
        _ = try store(change.expirations, at: rules.now, isHandedOut: false)
        var outcomes: [CommandOutcome] = []
        outcomes.reserveCapacity(keyed.count)
        for outcome in change.outcomes {
            let events = try store(outcome.events, at: rules.now, isHandedOut: true)
            outcomes.append(CommandOutcome(reply: outcome.reply, events: events))
        }
        return outcomes
    }

    private func keyed(
        _ commands: [RegistrationCommand], _ apps: SQLiteAppStatements.Apps
    ) throws(SQLiteError) -> [KeyedCommand] {
        // An erasure in all apps includes apps whose first row this batch stores. The names are sorted, so that every
        // store reports the events of an erasure in the same order.
        let names = Set(apps.names.values.lazy.map(\.exact)).union(commands.lazy.compactMap { $0.app?.exact })
            .sorted().map(\.text)
        return try Self.withCrypto { () throws(CryptoError) in
            try commands.map { command throws(CryptoError) in try index.keyed(command, apps: names) }
        }
    }

    /// Reads the rows that commands may change.
    private func stored(
        _ touched: TouchedKeys, _ apps: SQLiteAppStatements.Apps
    ) throws(SQLiteError) -> [Registration.Key: Stored] {
        var found: [Registration.Key: Stored] = [:]
        found.reserveCapacity(touched.tokens.count)
        for token in touched.tokens {
            for row in try rows.rows(ofToken: token) { found[row.key] = stored(row, apps) }
        }
        // Most of these rows are already in `found`, by their token.
        var others: Set<Registration.Key> = []
        for device in touched.devices { others.formUnion(try rows.keys(ofDevice: device)) }
        for user in touched.users { others.formUnion(try rows.keys(ofUser: user)) }
        for other in try stored(others.lazy.filter { found[$0] == nil }, apps) { found[other.row.key] = other }
        return found
    }

    /// Returns the devices of each query, in the order of the queries, or the fault of the query.
    ///
    /// - Parameter now: UNIX milliseconds.
    func lookUp(
        _ queries: [DeviceQuery], now: Int64
    ) throws(SQLiteError) -> [Result<[FoundDevice], MissingDataKey>] {
        try queries.map { query throws(SQLiteError) in
            let (userKey, scopeKey) = try Self.withCrypto { () throws(CryptoError) in
                (
                    try index.userKey(app: query.app, user: query.user),
                    try query.scope.map { scope throws(CryptoError) in try index.scopeKey(scope) }
                )
            }
            var devices: [FoundDevice] = []
            var missing: MissingDataKey?
            try lookups.forEachDevice(of: query, userKey: userKey, scopeKey: scopeKey, now: now) {
                key, registeredAt, sealed throws(SQLiteError) in
                do throws(MissingDataKey) {
                    let device = try coder.device(
                        key: key, userKey: userKey, registeredAt: registeredAt, sealed: sealed)
                    if let device { devices.append(device) }
                } catch {
                    missing = error
                }
            }
            return missing.map { .failure($0) } ?? .success(devices)
        }
    }
}
