package import Crypto
package import EventLoop
package import Registrations

/// A store in memory that applies the same rules as the stores of workers, without encryption.
///
/// Loop-bound, as are its readers and writers.
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
    /// The time that each call of a reader or writer takes.
    package var latency = Duration.zero
    /// Whether a writer reports a lost answer to the commit after it has made its changes.
    package var losesAnswers = false
    package private(set) var rows: [Registration.Key: Registration] = [:]
    package private(set) var marks: [UUIDValue: EndMark] = [:]
    package private(set) var events: [UUIDValue: PendingEvent] = [:]
    /// The number of lookups during which the store had no fault.
    package private(set) var lookupCount = 0
    private let index: BlindIndex
    private var apps: Set<String> = []
    private var observers: [(StoreFault?) -> Void] = []

    /// An event with the time at which it was stored or last claimed, in UNIX milliseconds.
    package struct PendingEvent: Sendable, Hashable {
        package var event: StoredEvent
        package var at: Int64
    }

    package init(on loop: EventLoop, keys: RegistrationKeys) throws(CryptoError) {
        self.loop = loop
        index = try BlindIndex(keys)
    }

    package func reader() -> RegistrationReader { Reader(self) }

    package func writer() -> RegistrationWriter { Writer(self) }

    fileprivate func start(_ onChange: @escaping (StoreFault?) -> Void) {
        observers.append(onChange)
        perform { onChange(self.fault) }
    }

    /// Calls `body` after the latency of the store.
    fileprivate func perform(_ body: @escaping () -> Void) {
        loop.schedule(after: latency, body)
    }

    /// Returns the devices that a query finds.
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
        _ commands: [RegistrationCommand], rules: RegistrationRules
    ) throws(CryptoError) -> [CommandOutcome] {
        var keyed: [KeyedCommand] = []
        for command in commands {
            if let app = command.app { apps.insert(app) }
            keyed.append(try index.keyed(command, apps: apps.sorted()))
        }
        let touched = TouchedKeys(keyed)
        let change = rules.apply(
            keyed, to: rows.values.filter { touched.contain($0) },
            marks: marks.values.filter { touched.marks.contains($0.key) })
        store(change)
        var outcomes: [CommandOutcome] = []
        for outcome in change.outcomes {
            let events = outcome.events.map { store($0, isHandedOut: true) }
            outcomes.append(CommandOutcome(reply: outcome.reply, events: events))
        }
        return outcomes
    }

    private func store(_ change: RegistrationRules.Change) {
        for row in change.rows { rows[row.key] = row }
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

    fileprivate func page(_ page: RegistrationPage) throws(CryptoError) -> [Registration] {
        var users: Set<UUIDValue>?
        if case .user(let user, let app) = page.filter {
            var keys: Set<UUIDValue> = []
            for app in app.map({ [$0] }) ?? apps.sorted() { keys.insert(try index.userKey(app: app, user: user)) }
            users = keys
        }
        let found = rows.values.filter { row in
            guard page.after.map({ row.key > $0 }) ?? true else { return false }
            return switch page.filter {
            case .all: true
            case .app(let app): row.app == app
            case .user: row.details.map { users?.contains($0.userKey) ?? false } ?? false
            }
        }
        return Array(found.sorted { $0.key < $1.key }.prefix(page.rowsMax))
    }

    /// Edits one page of rows. Rekeying changes nothing, since rows are not encrypted.
    fileprivate func edit(_ page: EditPage) -> (last: Registration.Key?, editedCount: Int) {
        let found = rows.values.filter { row in page.after.map { row.key > $0 } ?? true }
            .sorted { $0.key < $1.key }.prefix(page.rowsMax)
        var editedCount = 0
        for var row in found {
            guard case .unsuspend(let app) = page.edit, row.app == app, var details = row.details,
                details.suspicion != nil
            else { continue }
            details.suspicion = nil
            row.state = .live(details)
            rows[row.key] = row
            editedCount += 1
        }
        return (found.count < page.rowsMax ? nil : found.last?.key, editedCount)
    }

    fileprivate func countLookup() { lookupCount += 1 }

    fileprivate static let cryptoFault = StoreFault(.refused, "OpenSSL failed")
    fileprivate static let lostAnswer = StoreFault(.unreachable, "cannot commit: the connection was lost")
}

private final class Reader: RegistrationReader {
    private let store: SimulatedStore

    init(_ store: SimulatedStore) {
        self.store = store
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { store.start(onChange) }

    override func lookUp(_ lookup: DeviceLookup) {
        store.perform { [store] in
            if let fault = store.fault { return lookup.failed(fault) }
            store.countLookup()
            do throws(CryptoError) {
                var devices: [[FoundDevice]] = []
                for query in lookup.queries { devices.append(try store.devices(of: query)) }
                lookup.completed(devices)
            } catch {
                lookup.failed(SimulatedStore.cryptoFault)
            }
        }
    }

    override func close() async {}
}

private final class Writer: RegistrationWriter {
    private let store: SimulatedStore

    init(_ store: SimulatedStore) {
        self.store = store
    }

    override func start(onChange: @escaping (StoreFault?) -> Void) { store.start(onChange) }

    override func apply(_ batch: CommandBatch) {
        change(failed: batch.failed) { [store] () throws(CryptoError) in
            let outcomes = try store.apply(batch.commands, rules: batch.rules)
            return { batch.completed(outcomes) }
        }
    }

    override func delete(_ events: EventDeletion) {
        change(failed: events.failed) { [store] () throws(CryptoError) in
            store.delete(events.ids)
            return events.completed
        }
    }

    override func maintain(_ maintenance: Maintenance) {
        change(failed: maintenance.failed) { [store] () throws(CryptoError) in
            let events = store.maintain(maintenance.rules)
            return { maintenance.completed(events, isComplete: true) }
        }
    }

    override func read(_ page: RegistrationPage) {
        change(failed: page.failed) { [store] () throws(CryptoError) in
            let registrations = try store.page(page)
            return { page.completed(registrations) }
        }
    }

    override func edit(_ page: EditPage) {
        change(failed: page.failed) { [store] () throws(CryptoError) in
            let (last, editedCount) = store.edit(page)
            return { page.completed(last: last, editedCount: editedCount, unreadableCount: 0) }
        }
    }

    override func close() async {}

    /// Calls `body` after the latency of the store. Then calls the closure that `body` returns, or `failed`.
    private func change(
        failed: @escaping (StoreFault) -> Void, _ body: @escaping () throws(CryptoError) -> () -> Void
    ) {
        store.perform { [store] in
            if let fault = store.fault { return failed(fault) }
            do throws(CryptoError) {
                let completed = try body()
                if store.losesAnswers { failed(SimulatedStore.lostAnswer) } else { completed() }
            } catch {
                failed(SimulatedStore.cryptoFault)
            }
        }
    }
}
