import APNSProtocol
import Crypto
import Registrations

/// A store in memory that passes to the rules only the rows and marks that a batch concerns.
struct TestStore {
    static let start: Int64 = 1_750_000_000_000
    static let app = "com.example.app"

    private let index: BlindIndex
    var rows: [Registration.Key: Registration] = [:]
    var marks: [UUIDValue: EndMark] = [:]
    var now = start + 1_000_000
    var devicesPerUserMax = RegistrationRules.devicesPerUserMaxDefault

    init() throws {
        index = try BlindIndex(RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
    }

    func keyed(_ command: RegistrationCommand) throws -> KeyedCommand {
        try index.keyed(command, apps: [Self.app, "com.example.other"])
    }

    /// Applies a batch and returns its changes.
    @discardableResult
    mutating func apply(_ commands: [KeyedCommand]) -> RegistrationRules.Change {
        let touched = TouchedKeys(commands)
        let change = RegistrationRules(now: now, devicesPerUserMax: devicesPerUserMax).apply(
            commands, to: rows.values.filter { touched.contain($0) },
            marks: marks.values.filter { touched.marks.contains($0.key) })
        for row in change.rows { rows[row.key] = row }
        for mark in change.marks { marks[mark.key] = mark }
        return change
    }

    /// Applies one command and returns its outcome.
    @discardableResult
    mutating func apply(_ command: RegistrationCommand) throws -> RegistrationRules.Outcome {
        apply([try keyed(command)]).outcomes[0]
    }

    /// The users and tokens of live rows that are not suspended, such as `ann 0a`, in order.
    var reached: [String] {
        rows.values.compactMap { row in
            guard let details = row.details, details.suspicion?.isSuspension != true else { return nil }
            return details.identity.map { "\($0.user) \($0.token)" }
        }.sorted()
    }

    /// The store without suspicions, which depend on the order of arrival.
    var withoutSuspicions: TestStore {
        var store = self
        store.rows = rows.mapValues { row in
            guard var details = row.details else { return row }
            details.suspicion = nil
            var row = row
            row.state = .live(details)
            return row
        }
        return store
    }
}

extension TestStore: Equatable {
    static func == (left: TestStore, right: TestStore) -> Bool {
        left.rows == right.rows && left.marks == right.marks
    }
}

extension TokenAddress {
    /// An address of the kind `device`.
    static func device(_ token: String) -> TokenAddress {
        TokenAddress(app: TestStore.app, environment: .production, kind: .device, scope: nil, token: token)
    }
}

extension RegistrationCommand {
    /// - Parameter at: milliseconds after `TestStore.start`, as in all functions here.
    static func register(
        _ user: String, _ token: String, at: Int64, device: String? = nil, shared: Bool = false, expires: Int64? = nil,
        platform: DevicePlatform? = nil
    ) -> RegistrationCommand {
        .register(
            NewRegistration(
                address: .device(token), user: user, deviceID: device, platform: platform,
                registeredAt: TestStore.start + at, expiresAt: expires.map { TestStore.start + $0 }, isShared: shared))
    }

    static func unregister(token: String, at: Int64) -> RegistrationCommand {
        .unregister(.token(.device(token)), at: TestStore.start + at)
    }

    static func unregister(_ user: String, device: String? = nil, at: Int64) -> RegistrationCommand {
        let target: UnregisterTarget =
            device.map { .device(app: TestStore.app, user: user, deviceID: $0) }
            ?? .user(app: TestStore.app, user: user)
        return .unregister(target, at: TestStore.start + at)
    }

    static func erase(_ user: String, app: String? = nil, at: Int64) -> RegistrationCommand {
        .erase(user: user, app: app, at: TestStore.start + at)
    }

    static func prune(_ token: String, at: Int64) -> RegistrationCommand {
        .prune(
            .device(token), APNSRefusal(status: 410, reason: "Unregistered", timestamp: TestStore.start + at))
    }

    static func suspect(_ token: String, at: Int64) -> RegistrationCommand {
        .suspect(
            .device(token), APNSRefusal(status: 400, reason: "BadDeviceToken", timestamp: TestStore.start + at))
    }
}

extension RegistrationRules.Outcome {
    /// The events with user and token, such as `moved ann 0a`.
    var eventWords: [String] { events.map { "\($0.change.word) \($0.identity.user) \($0.identity.token)" } }
}
