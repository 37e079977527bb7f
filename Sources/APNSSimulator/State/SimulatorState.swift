import APNSProtocol

/// What this APNs knows of the world: teams with their apps and keys, and devices, of both environments.
public struct SimulatorState: Sendable {
    private struct App {
        var teamID: String
        var addedInGeneration: Int
    }

    private var keys: [String: RegisteredKey] = [:]
    private var apps: [String: App] = [:]
    private var devices = DeviceTable()
    /// Asked in order for device tokens that are not registered.
    public var deviceRules: [DeviceRule] = []
    /// What device tokens are that neither are registered nor fall under a rule.
    public var unknownDevices = DeviceCondition.bad
    /// Whether every well-formed topic belongs to every team.
    public var acceptsUnknownTopics = false { didSet { generation += 1 } }

    /// How it answers where Apple does not say.
    public var rules = RuleOptions()

    /// Rises with every change of keys and apps, so that what a connection has verified is verified again.
    private(set) var generation = 0

    public init() {}

    public mutating func add(_ key: RegisteredKey) {
        keys[key.id] = key
        generation += 1
    }

    /// Tokens of this key are refused from now on.
    public mutating func revokeKey(id: String) {
        keys[id]?.isRevoked = true
        generation += 1
    }

    public mutating func addApp(bundleID: String, teamID: String) {
        generation += 1
        // Connections that a push has bound before know an app's old team only.
        if apps[bundleID]?.teamID != teamID { apps[bundleID] = App(teamID: teamID, addedInGeneration: generation) }
    }

    /// Registers a device, or takes the place of the one with the same token.
    public mutating func add(_ device: Device) {
        devices.insert(device)
    }

    public var deviceCount: Int { devices.count }

    func key(id: String) -> RegisteredKey? { keys[id] }

    /// Whether an app was the team's in a generation of the past, and still is.
    func allows(teamID: String, bundleID: String, sinceGeneration generation: Int) -> Bool {
        if acceptsUnknownTopics { return true }
        guard let app = apps[bundleID] else { return false }
        return app.teamID == teamID && app.addedInGeneration <= generation
    }

    /// What a push to this token for this app meets in this environment.
    func condition(
        ofToken token: UnsafeRawBufferPointer, bundleID: String, in environment: APNSEnvironment
    ) -> DeviceCondition {
        if let device = devices[token] {
            // A token of the other environment is as good as none.
            if let home = device.environment, home != environment { return .bad }
            return device.bundleID == bundleID ? device.condition : .notForTopic
        }
        for rule in deviceRules where rule.covers(token) { return rule.condition }
        return unknownDevices
    }
}
