import Crypto

/// The changes that one `register` command makes to rows.
struct RegisterTransition {
    let rules: RegistrationRules
    let registration: NewRegistration
    let keys: KeyedCommand.RegisterKeys

    private var unsharedKey: Registration.Key { Registration.Key(token: keys.token) }
    private var sharedKey: Registration.Key { Registration.Key(token: keys.token, slot: keys.user) }
    private var key: Registration.Key { registration.isShared ? sharedKey : unsharedKey }

    func apply(to table: inout RegistrationTable) -> RegistrationRules.Outcome {
        let previous = table[key]
        let reply = if let previous { refusal(by: previous) } else { refusalOfNewRow(in: table) }
        if let reply { return RegistrationRules.Outcome(reply) }
        let refusal = refusal(in: table)
        let state: Registration.State =
            refusal == nil
            ? .live(details(after: previous))
            : .ended(at: max(previous?.endedAt ?? registration.registeredAt, registration.registeredAt))
        let wasLive = previous?.details?.userKey == keys.user
        table.set(
            Registration(
                key: key, app: registration.address.app, environment: registration.address.environment,
                kind: registration.address.kind, registeredAt: registration.registeredAt, deviceKey: keys.device,
                state: state))
        var outcome = RegistrationRules.Outcome(refusal ?? .stored)
        outcome.events = endOtherOwners(previous, in: &table)
        if refusal == nil && !outcome.events.isEmpty { outcome.reply = .moved }
        outcome.events += endReplacedTokens(in: &table)
        forgetOldestEnds(in: &table)
        if refusal == nil && !wasLive { evict(from: &table, &outcome) }
        return outcome
    }

    /// Returns the reply if the token has no room for another row; nil if the registration gets a row.
    private func refusalOfNewRow(in table: RegistrationTable) -> RegistrationReply? {
        registration.isShared && table.rowCount(ofToken: keys.token) >= RegistrationRules.rowsPerTokenMax
            ? .superseded : nil
    }

    /// Returns the reply if the row in the slot of the registration remains; nil if the registration replaces it.
    private func refusal(by previous: Registration) -> RegistrationReply? {
        guard previous.registeredAt >= registration.registeredAt else { return nil }
        guard let details = previous.details else { return .ended }
        guard previous.registeredAt == registration.registeredAt else { return .superseded }
        let rank = Rank(user: details.userKey, details.expiresAt, details.platform, previous.deviceKey)
        let newRank = Rank(user: keys.user, registration.expiresAt, registration.platform, keys.device)
        // An equal registration replaces a row that could not be decrypted.
        if rank == newRank { return details.identity == nil ? nil : .unchanged }
        return rank > newRank ? .superseded : nil
    }

    /// The precedence of registrations that have the same slot and the same time. Among those of one user, the
    /// registration that expires first wins. Likewise, an end wins over a registration with the same time.
    private struct Rank: Comparable {
        let user: UUIDValue
        let expiresAt: Int64
        let platform: Int
        let device: UUIDValue

        init(user: UUIDValue, _ expiresAt: Int64?, _ platform: DevicePlatform?, _ device: UUIDValue?) {
            self.user = user
            self.expiresAt = expiresAt ?? .max
            self.platform = platform?.number ?? -1
            self.device = device ?? UUIDValue(high: 0, low: 0)
        }

        static func < (left: Rank, right: Rank) -> Bool {
            (left.user, right.expiresAt, left.platform, left.device)
                < (right.user, left.expiresAt, right.platform, right.device)
        }
    }

    /// Returns the reply if the registration, which has precedence in its slot, is not live; nil if it is live.
    private func refusal(in table: RegistrationTable) -> RegistrationReply? {
        if let end = table[unsharedKey]?.endedAt, registration.registeredAt <= end { return .ended }
        if let end = table.end(ofMarks: keys.marks), registration.registeredAt <= end { return .ended }
        if rules.isExpired(registration.expiresAt) { return .ended }
        return hasNewerOwner(in: table) || hasNewerToken(in: table) ? .superseded : nil
    }

    private func hasNewerOwner(in table: RegistrationTable) -> Bool {
        guard registration.isShared else {
            // If this registration and a newer shared one were live, a lookup would find both rows of the user.
            return table[sharedKey].map { $0.registeredAt > registration.registeredAt } ?? false
        }
        guard let row = table[unsharedKey], let owner = row.details?.userKey else { return false }
        return (row.registeredAt, owner) >= (registration.registeredAt, keys.user)
    }

    /// Returns whether another token of the installation has precedence.
    private func hasNewerToken(in table: RegistrationTable) -> Bool {
        guard let device = keys.device else { return false }
        return table.rows(ofDevice: device, except: keys.token).contains { row in
            (row.registeredAt, row.key.token) > (registration.registeredAt, keys.token)
        }
    }

    private func details(after previous: Registration?) -> Registration.Details {
        var suspicion: Suspicion?
        // The row contains only the time of the last counted refusal. Earlier ones may precede the registration.
        if let earlier = previous?.details?.suspicion, earlier.since >= registration.registeredAt {
            suspicion = Suspicion(count: 1, since: earlier.since)
        }
        return Registration.Details(
            userKey: keys.user, scopeKey: keys.scope,
            identity: RegistrationIdentity(
                token: registration.address.token, user: registration.user, deviceID: registration.deviceID,
                scope: registration.address.scope),
            platform: registration.platform, expiresAt: registration.expiresAt, suspicion: suspicion)
    }

    /// Ends the other registrations of the token over which this one has precedence. A shared registration ends only
    /// the unshared one of its user. Returns the `moved` events of other users.
    private func endOtherOwners(
        _ previous: Registration?, in table: inout RegistrationTable
    ) -> [RegistrationEvent] {
        var losers = previous.map { [$0] } ?? []
        if registration.isShared {
            if let row = table[unsharedKey], row.details?.userKey == keys.user,
                row.registeredAt < registration.registeredAt
            {
                table.end(row, at: row.registeredAt)
            }
        } else {
            for row in table.rows(ofToken: keys.token) where row.key != key {
                guard let user = row.details?.userKey,
                    (row.registeredAt, user) <= (registration.registeredAt, keys.user)
                else { continue }
                table.end(row, at: row.registeredAt)
                losers.append(row)
            }
        }
        return losers.filter { $0.details?.userKey != keys.user }.compactMap {
            RegistrationEvent(.moved(newUser: registration.user), of: $0)
        }
    }

    /// Ends the registrations of the installation's older tokens, and returns their events.
    private func endReplacedTokens(in table: inout RegistrationTable) -> [RegistrationEvent] {
        guard let device = keys.device else { return [] }
        var events: [RegistrationEvent] = []
        let replaced = RegistrationRules.tokensReplaced(
            by: keys.token, of: device, registeredAt: registration.registeredAt, in: table)
        for row in replaced {
            table.end(row, at: row.registeredAt)
            if let event = RegistrationEvent(.replaced, of: row) { events.append(event) }
        }
        return events
    }

    /// Removes the installation from its oldest tombstones beyond the limit.
    private func forgetOldestEnds(in table: inout RegistrationTable) {
        let countMax = RegistrationRules.endsPerDeviceMax
        guard let device = keys.device, table.rowCount(ofDevice: device) > countMax else { return }
        let ended = table.rows(ofDevice: device).filter { $0.details == nil }
            .sorted { ($0.registeredAt, $0.key) < ($1.registeredAt, $1.key) }
        for var row in ended.dropLast(countMax) {
            row.deviceKey = nil
            table.set(row)
        }
    }

    /// Ends the oldest registrations of the user beyond the limit. The ended registrations may include the new one.
    private func evict(from table: inout RegistrationTable, _ outcome: inout RegistrationRules.Outcome) {
        let excess = table.rowCount(ofUser: keys.user) - rules.devicesPerUserMax
        guard excess > 0 else { return }
        let oldest = table.rows(ofUser: keys.user).sorted { ($0.registeredAt, $0.key) < ($1.registeredAt, $1.key) }
            .prefix(excess)
        for row in oldest {
            table.end(row, at: row.registeredAt)
            if let event = RegistrationEvent(.evicted, of: row) { outcome.events.append(event) }
            if row.key == key { outcome.reply = .superseded }
        }
    }
}
