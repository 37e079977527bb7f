import APNSProtocol
public import Crypto
public import Registrations

/// A model of a store's content, in memory, with which tests compare stores. `apply` gives the rules only the rows
/// and marks that a batch concerns.
public struct RegistrationModel {
    public static let start: Int64 = 1_750_000_000_000
    public static let app = "com.example.app"
    public static let otherApp = "com.example.other"

    private let index: BlindIndex
    public var rows: [Registration.Key: Registration] = [:]
    public var marks: [UUIDValue: EndMark] = [:]
    public var now = start + 1_000_000
    public var devicesPerUserMax = RegistrationRules.devicesPerUserMaxDefault

    /// Creates an empty model with random keys.
    public init() throws {
        try self.init(RegistrationKeys(json: RegistrationKeys.generatedFile(), source: "test"))
    }

    public init(_ keys: RegistrationKeys) throws {
        index = try BlindIndex(keys)
    }

    public var rules: RegistrationRules { RegistrationRules(now: now, devicesPerUserMax: devicesPerUserMax) }

    public func keyed(_ command: RegistrationCommand) throws -> KeyedCommand {
        try index.keyed(command, apps: [Self.app, Self.otherApp])
    }

    @discardableResult
    public mutating func apply(_ commands: [KeyedCommand]) -> RegistrationRules.Change {
        let change = rules.apply(commands, toStoreOf: rows, marks: marks)
        for row in change.rows { rows[row.key] = row }
        for mark in change.marks { marks[mark.key] = mark }
        return change
    }

    @discardableResult
    public mutating func apply(_ command: RegistrationCommand) throws -> RegistrationRules.Outcome {
        apply([try keyed(command)]).outcomes[0]
    }

    /// Ends expired rows, deletes old tombstones and marks, and returns the events of the expirations.
    public mutating func maintain() -> [RegistrationEvent] {
        let change = rules.expire(rows.values)
        for row in change.rows { rows[row.key] = row }
        let rules = rules
        rows = rows.filter { !rules.isForgotten($0.value) }
        marks = marks.filter { !rules.isForgotten($0.value) }
        return change.expirations
    }

    /// Returns the devices that a query finds at `time`, in UNIX milliseconds.
    public func devices(of query: DeviceQuery, at time: Int64) throws -> [FoundDevice] {
        let userKey = try index.userKey(app: query.app, user: query.user)
        let scopeKey = try query.scope.map { try index.scopeKey($0) }
        let found = rows.values.compactMap { row -> FoundDevice? in
            guard let details = row.details, details.userKey == userKey, details.scopeKey == scopeKey,
                row.environment == query.environment, row.kind == query.kind,
                query.tokenKey ?? row.key.token == row.key.token,
                details.suspicion?.isSuspension != true, details.expiresAt ?? .max > time,
                let identity = details.identity
            else { return nil }
            return FoundDevice(key: row.key, token: identity.token, registeredAt: row.registeredAt)
        }
        return Array(found.sorted { $0.key < $1.key }.prefix(DeviceLookup.devicesMax))
    }

    /// The users and tokens of live rows that are readable and not suspended, such as `ann 0a`, in order.
    public var reached: [String] {
        rows.values.compactMap { row in
            guard let details = row.details, details.suspicion?.isSuspension != true else { return nil }
            return details.identity.map { "\($0.user) \($0.token)" }
        }.sorted()
    }

    /// A copy of the model without suspicions, which depend on the order in which commands arrive.
    public var withoutSuspicions: RegistrationModel {
        var model = self
        model.rows = rows.mapValues(\.withoutSuspicion)
        return model
    }
}

extension Registration {
    /// The row without counted refusals, which depend on the order of arrival.
    public var withoutSuspicion: Registration {
        guard var details else { return self }
        details.suspicion = nil
        var row = self
        row.state = .live(details)
        return row
    }
}

extension RegistrationModel: Equatable {
    public static func == (left: RegistrationModel, right: RegistrationModel) -> Bool {
        left.rows == right.rows && left.marks == right.marks
    }
}
