/// The rules by which commands and expiry change registrations. A store reads rows and marks, and writes the rows and
/// marks that this type returns.
///
/// Except in the cases below, the result is independent of the order in which commands arrive:
///
/// - A token belongs to the user of its newest registration. Between users with the same time, the larger key wins.
/// - An end at T ends registrations at or before T. The end remains as a tombstone or mark.
/// - For one installation, only the newest token within app, environment, kind and scope is live. Between tokens with
///   the same time, the larger key wins.
/// - An unshared registration ends all older registrations of its token. A shared one ends only the older unshared
///   registration of its user.
///
/// A row contains only the newest registration. The order of arrival therefore matters in these cases:
///
/// - A token changes its installation. The row of the token then no longer shows that the token was newer than another
///   token of the first installation.
/// - Two users register a token with the same time, and one of the two registrations ends. The cause is a mark, expiry,
///   a newer token, or a shared registration of the same user. The tombstone has no user to compare, so the end wins.
/// - A user has more registrations than `devicesPerUserMax`. An end does not restore evicted rows.
/// - Refusals count only against a row that is live when they arrive.
/// - An installation has more than `endsPerDeviceMax` tombstones. The oldest ones no longer show that their tokens were
///   newer than another token of the installation.
/// - A restored mark of an erasure in all apps, or of an installation, does not identify the rows that it concerns. It
///   refuses registrations that arrive later, but does not end those that arrived earlier.
/// - A token has `rowsPerTokenMax` rows. A shared registration of another user has no effect.
///
/// These limits and `devicesPerUserMax` bound the rows that a store reads for one command.
public struct RegistrationRules: Sendable {
    /// The number of counted refusals that suspends a row.
    public static let suspicionsMax = 3
    /// Minimum time between two refusals that both count.
    public static let suspicionMillisecondsMin: Int64 = 24 * 3_600_000
    /// The time for which a store keeps tombstones, and marks that are not permanent. A command from the queue with an
    /// older `registered_at` is invalid.
    public static let tombstoneMillisecondsMax: Int64 = 30 * 24 * 3_600_000
    /// Maximum number of tombstones that keep the key of an installation. Otherwise, an app that gives all its
    /// installations one name would make the store read a row for each of its devices.
    public static let endsPerDeviceMax = 100
    /// The number of rows of a token at which a shared registration of another user has no effect. A token has one row
    /// for each user who shares the token and one for slot zero, tombstones included.
    public static let rowsPerTokenMax = 1000
    /// Default of ``devicesPerUserMax``.
    public static let devicesPerUserMaxDefault = 100

    /// The current time in UNIX milliseconds.
    public let now: Int64
    /// Maximum number of live rows of a user in an app.
    public let devicesPerUserMax: Int

    public init(now: Int64, devicesPerUserMax: Int = Self.devicesPerUserMaxDefault) {
        (self.now, self.devicesPerUserMax) = (now, max(1, devicesPerUserMax))
    }

    public struct Outcome: Sendable, Hashable {
        public var reply: RegistrationReply
        public var events: [RegistrationEvent]

        init(_ reply: RegistrationReply, _ events: [RegistrationEvent] = []) {
            (self.reply, self.events) = (reply, events)
        }
    }

    /// The changes of a batch.
    public struct Change: Sendable, Hashable {
        /// The rows to insert or update, in the order of their keys.
        public var rows: [Registration]
        /// The marks to insert or update, in the order of their keys.
        public var marks: [EndMark]
        /// The outcomes of the commands, in the order of the commands.
        public var outcomes: [Outcome]
        /// The events of rows that had expired before the batch. They belong to no command.
        public var expirations: [RegistrationEvent]
    }

    /// Ends the expired rows, and then applies the commands in order.
    ///
    /// - Parameters:
    ///   - rows: All rows that the commands concern (``TouchedKeys``).
    ///   - marks: All marks that the commands concern.
    public func apply(
        _ commands: [KeyedCommand], to rows: some Sequence<Registration>, marks: some Sequence<EndMark>
    ) -> Change {
        var table = RegistrationTable(rows: rows, marks: marks)
        let expirations = expire(in: &table)
        let outcomes = commands.map { apply($0, to: &table) }
        return Change(
            rows: table.changedRows, marks: table.changedMarks, outcomes: outcomes, expirations: expirations)
    }

    /// Returns the change that ends the expired rows.
    public func expire(_ rows: some Sequence<Registration>) -> Change {
        apply([], to: rows, marks: [])
    }

    /// Returns whether the row is a tombstone older than ``tombstoneMillisecondsMax``, which the store deletes.
    public func isForgotten(_ row: Registration) -> Bool {
        row.endedAt.map { $0 < now - Self.tombstoneMillisecondsMax } ?? false
    }

    /// Returns whether the mark is older than ``tombstoneMillisecondsMax`` and not permanent. The store deletes such a
    /// mark.
    public func isForgotten(_ mark: EndMark) -> Bool {
        !mark.isPermanent && mark.at < now - Self.tombstoneMillisecondsMax
    }

    func isExpired(_ time: Int64?) -> Bool { time.map { $0 <= now } ?? false }

    private func expire(in table: inout RegistrationTable) -> [RegistrationEvent] {
        var events: [RegistrationEvent] = []
        for row in table.liveRows where isExpired(row.details?.expiresAt) {
            table.end(row, at: row.registeredAt)
            if let event = RegistrationEvent(.expired, of: row) { events.append(event) }
        }
        return events
    }

    private func apply(_ command: KeyedCommand, to table: inout RegistrationTable) -> Outcome {
        switch command {
        case .register(let registration, let keys):
            RegisterTransition(rules: self, registration: registration, keys: keys).apply(to: &table)
        case .endToken(let address, let token, let at, let refusal):
            endToken(address, token, at: at, refusal, in: &table)
        case .endUser(let end): endUser(end, in: &table)
        case .suspect(let token, let refusal): suspect(token, refusal, in: &table)
        case .restore(let end): restore(end, in: &table)
        }
    }
}
