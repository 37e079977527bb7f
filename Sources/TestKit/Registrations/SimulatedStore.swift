package import Crypto
package import EventLoop
package import Registrations

/// A store in memory that applies the same rules as the stores of workers, without encryption.
///
/// Use the store, its readers and its writers on the loop's thread only.
package final class SimulatedStore {
    package let loop: EventLoop
    /// The UNIX time of the store, in milliseconds.
    package var nowMilliseconds: Int64 { loop.now.unixMilliseconds }
    /// The fault with which all work fails; nil if the store is ready. Readers and writers report each change.
    package var fault: StoreFault? {
        didSet {
            guard fault != oldValue else { return }
            for observer in observers { observer(fault) }
        }
    }
    /// The fault with which all work except lookups fails, as with a full disk or a standby that refuses writes; nil
    /// for none.
    package var changeFault: StoreFault?
    /// The faults of queries for single users.
    package var faultsOfUsers: [ByteText: StoreFault] = [:]
    /// The time from a call until the store performs its work.
    package var latency = Duration.zero
    /// The time from the work of the store until the answer arrives. A connection that is lost meanwhile loses the
    /// answer.
    package var answerLatency = Duration.zero
    /// Whether changes are committed and then fail, because the answer to the commit is lost.
    package var losesAnswers = false
    /// A closure that is called when the store has performed work, before the answer.
    package var onWork: (Work, Client) -> Void = { _, _ in }
    /// A closure that is called for each row that a command or its expiry changes, with the row before the change. Not
    /// called for deleted rows and edits of operators.
    package var onChange: (_ row: Registration, _ previous: Registration?) -> Void = { _, _ in }
    /// A closure that is called for each event that the store begins to keep.
    package var onEvent: (StoredEvent) -> Void = { _ in }
    package private(set) var rows: [Registration.Key: Registration] = [:]
    package private(set) var marks: [UUIDValue: EndMark] = [:]
    package private(set) var events: [UUIDValue: PendingEvent] = [:]
    /// The number of lookups during which the store had no fault.
    package private(set) var lookupCount = 0
    private let index: BlindIndex
    private var apps: Set<ByteText> = []
    private var observers: [(StoreFault?) -> Void] = []
    /// The number of times that the store has lost all connections.
    private var losses = 0

    package enum Work: CaseIterable, Sendable, Hashable {
        case lookup
        case commit
        case deletion
        case maintenance
        /// Pages that operators read or edit.
        case page
    }

    /// A process with its connections to the store.
    package final class Client {
        fileprivate var isUp = true

        package init() {}

        /// Loses all answers that have not arrived, and ends the client's access to the store.
        package func kill() { isUp = false }
    }

    /// An event with the time at which it was stored or last claimed, in UNIX milliseconds.
    package struct PendingEvent: Sendable, Hashable {
        package var event: StoredEvent
        package var at: Int64
    }

    package init(on loop: EventLoop, keys: RegistrationKeys) throws(CryptoError) {
        self.loop = loop
        index = try BlindIndex(keys)
    }

    package func reader(of client: Client = Client()) -> RegistrationReader { Reader(self, client) }

    package func writer(of client: Client = Client()) -> RegistrationWriter { Writer(self, client) }

    /// Loses the connections of all clients, and all answers that have not arrived. The clients are connected again
    /// immediately.
    package func loseConnections() { losses += 1 }

    fileprivate func start(_ onChange: @escaping (StoreFault?) -> Void) {
        observers.append(onChange)
        loop.schedule(after: latency) { onChange(self.fault) }
    }

    /// Performs work after the latency of the store. Then calls the closure that the work returns, or `failed`.
    fileprivate func perform(
        _ kind: Work, of client: Client, failed: @escaping (StoreFault) -> Void,
        _ work: @escaping () throws(CryptoError) -> () -> Void
    ) {
        loop.schedule(after: latency) { [self] in
            guard client.isUp else { return failed(Self.lostConnection) }
            let isChange = kind != .lookup
            if let fault = fault ?? (isChange ? changeFault : nil) { return failed(fault) }
            do throws(CryptoError) {
                let completed = try work()
                onWork(kind, client)
                answer(client) { isLost in
                    if isLost || isChange && self.losesAnswers { failed(Self.lostConnection) } else { completed() }
                }
            } catch {
                failed(Self.cryptoFault)
            }
        }
    }

    /// Calls `body` after the latency of the answer.
    private func answer(_ client: Client, _ body: @escaping (_ isLost: Bool) -> Void) {
        guard answerLatency > .zero else { return body(false) }
        let before = losses
        loop.schedule(after: answerLatency) { body(!client.isUp || self.losses != before) }
    }

    package func devices(of query: DeviceQuery) throws(CryptoError) -> [FoundDevice] {
        let user = try index.userKey(app: query.app, user: query.user)
        var scope: UUIDValue?
        if let name = query.scope { scope = try index.scopeKey(name) }
        let found = rows.values.compactMap { row -> FoundDevice? in
            guard let details = row.details, let identity = details.identity, details.userKey == user,
                details.scopeKey == scope, row.environment == query.environment, row.kind == query.kind,
                details.suspicion?.isSuspension != true, details.expiresAt.map({ $0 > nowMilliseconds }) ?? true,
                query.tokenKey.map({ $0 == row.key.token }) ?? true
            else { return nil }
            return FoundDevice(key: row.key, token: identity.token, registeredAt: row.registeredAt)
        }
        return Array(found.sorted { $0.key < $1.key }.prefix(DeviceLookup.devicesMax))
    }

    /// Applies a batch of commands as the writers do, without their latency.
    @discardableResult
    package func apply(
        _ commands: [RegistrationCommand], ends: [StoredEnd] = [], rules: RegistrationRules
    ) throws(CryptoError) -> [CommandOutcome] {
        var keyed: [KeyedCommand] = []
        for command in commands {
            if let app = command.app { apps.insert(app.exact) }
            keyed.append(try index.keyed(command, apps: apps.sorted().map(\.text)))
        }
        apps.formUnion(ends.compactMap { $0.app?.exact })
        keyed += ends.map { .restore($0) }
        let change = rules.apply(keyed, toStoreOf: rows, marks: marks)
        store(change)
        var outcomes: [CommandOutcome] = []
        for outcome in change.outcomes {
            let events = outcome.events.map { store($0, isHandedOut: true) }
            outcomes.append(CommandOutcome(reply: outcome.reply, events: events))
        }
        return outcomes
    }

    private func store(_ change: RegistrationRules.Change) {
        for row in change.rows { onChange(row, rows.updateValue(row, forKey: row.key)) }
        for mark in change.marks { marks[mark.key] = mark }
        for event in change.expirations { store(event, isHandedOut: false) }
    }

    @discardableResult
    private func store(_ event: RegistrationEvent, isHandedOut: Bool) -> StoredEvent {
        let id = UUIDValue(high: loop.nextRandom(), low: loop.nextRandom())
        let stored = StoredEvent(id: id, app: event.app, body: event.body, mayBeDuplicate: false)
        var pending = stored
        pending.mayBeDuplicate = isHandedOut
        events[id] = PendingEvent(event: pending, at: nowMilliseconds)
        onEvent(stored)
        return stored
    }

    fileprivate func delete(_ ids: [UUIDValue]) {
        for id in ids { events[id] = nil }
    }

    /// Performs all maintenance in one round, and returns the claimed events.
    package func maintain(_ rules: RegistrationRules) -> [StoredEvent] {
        store(rules.expire(rows.values.filter { $0.details?.expiresAt.map { $0 <= rules.now } ?? false }))
        rows = rows.filter { !rules.isForgotten($0.value) }
        marks = marks.filter { !rules.isForgotten($0.value) }
        let due = events.values.filter { $0.at <= rules.now - Maintenance.eventAgeMillisecondsMin }
            .sorted { ($0.at, $0.event.id) < ($1.at, $1.event.id) }
        for pending in due {
            events[pending.event.id]?.at = rules.now
            events[pending.event.id]?.event.mayBeDuplicate = true
        }
        return due.map(\.event)
    }

    fileprivate func page(
        _ page: RegistrationPage
    ) throws(CryptoError) -> (registrations: [Registration], last: Registration.Key?) {
        var users: Set<UUIDValue>?
        if case .user(let user, let app) = page.filter {
            var keys: Set<UUIDValue> = []
            for app in app.map({ [$0] }) ?? apps.map(\.text) { keys.insert(try index.userKey(app: app, user: user)) }
            users = keys
        }
        let found = rows.values.filter { row in
            guard page.after.map({ row.key > $0 }) ?? true else { return false }
            return switch page.filter {
            case .all: true
            case .app(let app): row.app.exact == app.exact
            case .user: row.details.map { users?.contains($0.userKey) ?? false } ?? false
            }
        }
        let registrations = Array(found.sorted { $0.key < $1.key }.prefix(page.rowsMax))
        return (registrations, registrations.count < page.rowsMax ? nil : registrations.last?.key)
    }

    /// Edits one page of rows. Rekeying changes nothing, since rows are not encrypted.
    fileprivate func edit(_ page: EditPage) -> (last: Registration.Key?, editedCount: Int) {
        let found = rows.values.filter { row in page.after.map { row.key > $0 } ?? true }
            .sorted { $0.key < $1.key }.prefix(page.rowsMax)
        var editedCount = 0
        for row in found {
            guard case .unsuspend(let app) = page.edit, row.app.exact == app.exact, row.details?.suspicion != nil else {
                continue
            }
            rows[row.key] = row.withoutSuspicion
            editedCount += 1
        }
        return (found.count < page.rowsMax ? nil : found.last?.key, editedCount)
    }

    fileprivate func countLookup() { lookupCount += 1 }

    private static let cryptoFault = StoreFault(.refused, "OpenSSL failed")
    private static let lostConnection = StoreFault(.unreachable, "cannot use the store: the connection was lost")
}

private final class Reader: RegistrationReader {
    private let store: SimulatedStore
    private let client: SimulatedStore.Client

    init(_ store: SimulatedStore, _ client: SimulatedStore.Client) {
        (self.store, self.client) = (store, client)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { store.start(onChange) }

    override func lookUp(_ lookup: DeviceLookup) {
        store.perform(.lookup, of: client, failed: lookup.failed) { [store] () throws(CryptoError) in
            store.countLookup()
            var devices: [[FoundDevice]] = []
            for (index, query) in lookup.queries.enumerated() {
                let fault = store.faultsOfUsers[query.user.exact]
                if let fault { lookup.fail(query: index, fault) }
                devices.append(fault == nil ? try store.devices(of: query) : [])
            }
            return { [devices] in lookup.completed(devices) }
        }
    }

    override func close() async {}
}

private final class Writer: RegistrationWriter {
    private let store: SimulatedStore
    private let client: SimulatedStore.Client

    init(_ store: SimulatedStore, _ client: SimulatedStore.Client) {
        (self.store, self.client) = (store, client)
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { store.start(onChange) }

    override func apply(_ batch: CommandBatch) {
        store.perform(.commit, of: client, failed: batch.failed) { [store] () throws(CryptoError) in
            let outcomes = try store.apply(batch.commands, ends: batch.ends, rules: batch.rules)
            return { batch.completed(outcomes) }
        }
    }

    override func delete(_ events: EventDeletion) {
        store.perform(.deletion, of: client, failed: events.failed) { [store] () throws(CryptoError) in
            store.delete(events.ids)
            return events.completed
        }
    }

    override func maintain(_ maintenance: Maintenance) {
        store.perform(.maintenance, of: client, failed: maintenance.failed) { [store] () throws(CryptoError) in
            let events = store.maintain(maintenance.rules)
            return { maintenance.completed(events, isComplete: true) }
        }
    }

    override func read(_ page: RegistrationPage) {
        store.perform(.page, of: client, failed: page.failed) { [store] () throws(CryptoError) in
            let (registrations, last) = try store.page(page)
            return { page.completed(registrations, last: last) }
        }
    }

    override func read(_ page: MarkPage) {
        store.perform(.page, of: client, failed: page.failed) { [store] () throws(CryptoError) in
            let marks = store.marks.values.filter { mark in page.after.map { mark.key > $0 } ?? true }
                .sorted { $0.key < $1.key }
            return { page.completed(Array(marks.prefix(page.marksMax))) }
        }
    }

    override func edit(_ page: EditPage) {
        store.perform(.page, of: client, failed: page.failed) { [store] () throws(CryptoError) in
            let (last, editedCount) = store.edit(page)
            return { page.completed(last: last, editedCount: editedCount, unreadableCount: 0) }
        }
    }

    override func close() async {}
}
