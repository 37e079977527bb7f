public import APNSProtocol

/// What this APNs knows of the world: teams with their apps and keys, and devices, of both environments.
public struct SimulatorState: Sendable {
    struct App: Sendable {
        let bundleID: String
        var teamID: String
        var addedInGeneration: Int
        /// Whether it has the Broadcast capability.
        var allowsBroadcasts: Bool
    }

    var teams: Set<String> = []
    var keys: [String: RegisteredKey] = [:]
    var certificates: [SHA256Value: RegisteredCertificate] = [:]
    var apps: [String: App] = [:]
    private var devices = DeviceTable()
    var channels = ChannelTable()
    /// Asked in order for device tokens that are not registered.
    public var deviceRules: [DeviceRule] = []
    /// What device tokens are that neither are registered nor fall under a rule.
    public var unknownDevices = DeviceCondition.bad
    /// Whether every well-formed topic belongs to every team.
    public var acceptsUnknownTopics = false { didSet { generation += 1 } }

    /// How it answers where Apple does not say.
    public var rules = RuleOptions()

    /// Rises with every change of keys and apps, so that what a connection has verified is verified again.
    var generation = 0

    public init() {}

    /// Adds a team that may have nothing yet.
    public mutating func addTeam(id: String) { teams.insert(id) }

    /// Adds a key, or takes the place of the one with the same id.
    public mutating func add(_ key: RegisteredKey) {
        teams.insert(key.teamID)
        keys[key.id] = key
        generation += 1
    }

    /// Tokens of this key are refused from now on.
    public mutating func revokeKey(id: String) {
        keys[id]?.isRevoked = true
        generation += 1
    }

    /// Adds a provider's certificate, or takes the place of the same one.
    public mutating func add(_ certificate: RegisteredCertificate) {
        teams.insert(certificate.teamID)
        certificates[certificate.fingerprint] = certificate
        generation += 1
    }

    /// Connections with this certificate are refused within TLS from now on.
    public mutating func revokeCertificate(_ fingerprint: SHA256Value) {
        certificates[fingerprint]?.isRevoked = true
        generation += 1
    }

    /// Whether this one was issued and not revoked.
    func knowsCertificate(_ fingerprint: SHA256Value) -> Bool { certificates[fingerprint]?.isRevoked == false }

    func isRevokedCertificate(_ fingerprint: SHA256Value) -> Bool { certificates[fingerprint]?.isRevoked == true }

    /// Adds an app to a team, or gives it to another one.
    ///
    /// - Parameter allowsBroadcasts: whether the app has the Broadcast capability. Taken from an app that had it, all of
    ///   its channels are gone for good (Apple, "Setting up broadcast push notifications").
    public mutating func addApp(bundleID: String, teamID: String, allowsBroadcasts: Bool = false) {
        teams.insert(teamID)
        generation += 1
        if !allowsBroadcasts { channels.removeAll(bundleID: bundleID) }
        // Connections that a push has bound before know an app's old team only.
        let known = apps[bundleID].flatMap { $0.teamID == teamID ? $0.addedInGeneration : nil }
        apps[bundleID] = App(
            bundleID: bundleID, teamID: teamID, addedInGeneration: known ?? generation,
            allowsBroadcasts: allowsBroadcasts)
    }

    /// Adds a channel, or takes the place of the app's one with the same id. Of an app without the Broadcast capability
    /// it is of no use.
    public mutating func add(_ channel: Channel) {
        channels.insert(channel)
    }

    /// Deletes a channel; the one that was there.
    @discardableResult
    public mutating func removeChannel(
        id: String, bundleID: String, environment: APNSEnvironment
    ) -> Channel? {
        channels.remove(id: id, bundleID: bundleID, environment: environment)
    }

    /// Every channel, the oldest first.
    public var allChannels: [Channel] { channels.all }

    /// An app's channels in one environment, the oldest first.
    func channels(bundleID: String, environment: APNSEnvironment) -> [Channel] {
        channels.channels(bundleID: bundleID, environment: environment)
    }

    /// Whether an app may have one more.
    func hasRoomForChannel(bundleID: String, environment: APNSEnvironment) -> Bool {
        channels.count < ChannelTable.channelsMax
            && channels.count(bundleID: bundleID, environment: environment) < APNSLimits.channelsPerAppMax
    }

    func channel(id: String, bundleID: String, environment: APNSEnvironment) -> Channel? {
        channels.channel(id: id, bundleID: bundleID, environment: environment)
    }

    /// Whether any app has it in any environment.
    func hasChannel(id: String) -> Bool { channels.contains(id: id) }

    func allowsBroadcasts(bundleID: String) -> Bool {
        apps[bundleID]?.allowsBroadcasts ?? acceptsUnknownTopics
    }

    /// Registers a device, or takes the place of the one with the same token.
    public mutating func add(_ device: Device) {
        devices.insert(device)
    }

    /// - Parameter token: lower case hexadecimal.
    func device(token: [UInt8]) -> Device? { token.withUnsafeBytes { devices[$0] } }

    /// The device that was there.
    @discardableResult
    mutating func removeDevice(token: [UInt8]) -> Device? { devices.remove(token: token) }

    public var deviceCount: Int { devices.count }

    /// By token.
    var devicesInOrder: [Device] { devices.all.sorted { $0.token.lexicographicallyPrecedes($1.token) } }

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
