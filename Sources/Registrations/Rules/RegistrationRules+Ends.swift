import Crypto

extension RegistrationRules {
    /// Ends the registrations of a token that are not newer than `at`. A tombstone in slot zero keeps the time for all
    /// slots, unless a newer registration is live there.
    func endToken(
        _ address: TokenAddress, _ token: UUIDValue, at: Int64, _ refusal: APNSRefusal?,
        in table: inout RegistrationTable
    ) -> Outcome {
        let rows = table.rows(ofToken: token)
        var events: [RegistrationEvent] = []
        var endedCount = 0
        for row in rows where row.details != nil && row.registeredAt <= at {
            endedCount += 1
            if let refusal, let event = RegistrationEvent(.pruned(refusal), of: row) { events.append(event) }
            table.end(row, at: row.registeredAt)
        }
        let key = Registration.Key(token: token)
        if let row = table[key] {
            if let earlier = row.endedAt { table.end(row, at: max(earlier, at)) }
        } else {
            table.set(
                Registration(
                    key: key, app: address.app, environment: address.environment, kind: address.kind, registeredAt: 0,
                    deviceKey: nil, state: .ended(at: at)))
        }
        return Outcome(Self.endReply(endedCount: endedCount, of: rows), events)
    }

    /// Ends the registrations of a user that are not newer than the mark. Keeps the mark for those that arrive later.
    func endUser(_ end: KeyedCommand.UserEnd, in table: inout RegistrationTable) -> Outcome {
        let rows = end.users.flatMap { table.rows(ofUser: $0) }.filter { row in
            end.deviceID.map { row.details?.identity?.deviceID?.exact == $0.exact } ?? true
        }
        var events: [RegistrationEvent] = []
        var endedCount = 0
        for row in rows where row.registeredAt <= end.mark.at {
            endedCount += 1
            if end.isErasure, let event = RegistrationEvent(.erased, of: row) { events.append(event) }
            table.end(row, at: row.registeredAt)
        }
        let isNew = table.insert(end.mark)
        guard endedCount == 0, rows.isEmpty, !isNew else {
            return Outcome(Self.endReply(endedCount: endedCount, of: rows), events)
        }
        return Outcome(.unchanged)
    }

    /// Restores an end from an export. The reply is `ended` if the end has an effect.
    func restore(_ end: StoredEnd, in table: inout RegistrationTable) -> Outcome {
        switch end {
        case .mark(let mark):
            // The key of a mark for a user in an app is also that of the user's rows.
            let outcome = endUser(
                KeyedCommand.UserEnd(users: [mark.key], mark: mark, deviceID: nil, isErasure: mark.isPermanent),
                in: &table)
            return outcome.reply == .notFound ? Outcome(.ended) : outcome
        case .tombstone(let tombstone): return restore(tombstone, in: &table)
        }
    }

    /// Restores a tombstone, and ends the live rows that would have no effect if they arrived after it.
    private func restore(_ tombstone: Registration, in table: inout RegistrationTable) -> Outcome {
        var outcome = merge(tombstone, into: &table)
        for row in Self.losers(to: tombstone, in: table) {
            table.end(row, at: row.registeredAt)
            outcome.reply = .ended
        }
        guard let device = tombstone.deviceKey else { return outcome }
        let replaced = Self.tokensReplaced(
            by: tombstone.key.token, of: device, registeredAt: tombstone.registeredAt, in: table)
        for row in replaced {
            table.end(row, at: row.registeredAt)
            outcome.reply = .ended
            if let event = RegistrationEvent(.replaced, of: row) { outcome.events.append(event) }
        }
        return outcome
    }

    /// Returns the live rows in other slots of a tombstone's token over which the tombstone has precedence. A tombstone
    /// in slot zero ends the registrations of all users of the token. A tombstone of a shared registration ends only
    /// the older unshared registration of its user.
    private static func losers(to tombstone: Registration, in table: RegistrationTable) -> [Registration] {
        table.rows(ofToken: tombstone.key.token).filter { row in
            guard row.key != tombstone.key, let details = row.details else { return false }
            if tombstone.key.slot == Registration.Key.unshared {
                return row.registeredAt <= tombstone.endedAt ?? tombstone.registeredAt
            }
            return row.key.slot == Registration.Key.unshared && details.userKey == tombstone.key.slot
                && row.registeredAt < tombstone.registeredAt
        }
    }

    /// Returns the live rows of an installation's tokens that a registration of another token replaces.
    static func tokensReplaced(
        by token: UUIDValue, of device: UUIDValue, registeredAt: Int64, in table: RegistrationTable
    ) -> [Registration] {
        table.rows(ofDevice: device, except: token).filter { row in
            row.details != nil && (row.registeredAt, row.key.token) < (registeredAt, token)
        }
    }

    /// Merges a tombstone into the row with its key.
    private func merge(_ tombstone: Registration, into table: inout RegistrationTable) -> Outcome {
        guard let row = table[tombstone.key] else {
            table.set(tombstone)
            return Outcome(.ended)
        }
        let end = max(tombstone.endedAt ?? tombstone.registeredAt, row.endedAt ?? .min)
        guard row.details == nil || row.registeredAt <= end else { return Outcome(.superseded) }
        var merged = row.registeredAt < tombstone.registeredAt ? tombstone : row
        merged.state = .ended(at: end)
        table.set(merged)
        return Outcome(merged == row ? .unchanged : .ended)
    }

    private static func endReply(endedCount: Int, of rows: [Registration]) -> RegistrationReply {
        if endedCount > 0 { return .ended }
        if rows.contains(where: { $0.details != nil }) { return .superseded }
        return rows.isEmpty ? .notFound : .unchanged
    }

    /// Counts a refusal against the live rows of a token that are not newer than the refusal. A redelivered command has
    /// the same time, so that its refusal does not count again.
    func suspect(_ token: UUIDValue, _ refusal: APNSRefusal, in table: inout RegistrationTable) -> Outcome {
        let rows = table.rows(ofToken: token).filter { $0.details != nil }
        guard !rows.isEmpty else { return Outcome(.notFound) }
        let concerned = rows.filter { $0.registeredAt <= refusal.timestamp }
        var outcome = Outcome(concerned.isEmpty ? .superseded : .unchanged)
        for var row in concerned {
            guard var details = row.details, let suspicion = Self.suspicion(details.suspicion, after: refusal) else {
                continue
            }
            details.suspicion = suspicion
            row.state = .live(details)
            table.set(row)
            outcome.reply = .stored
            if suspicion.isSuspension, let event = RegistrationEvent(.suspended(refusal), of: row) {
                outcome.events.append(event)
            }
        }
        return outcome
    }

    /// Returns the suspicion after a refusal; nil if the refusal does not count.
    private static func suspicion(_ suspicion: Suspicion?, after refusal: APNSRefusal) -> Suspicion? {
        guard let suspicion else { return Suspicion(count: 1, since: refusal.timestamp) }
        // The time of a refusal is that of a command. The time of a row may have any value, so its difference from
        // another time may overflow.
        guard !suspicion.isSuspension, suspicion.since <= refusal.timestamp - suspicionMillisecondsMin else {
            return nil
        }
        return Suspicion(count: suspicion.count + 1, since: refusal.timestamp)
    }
}
