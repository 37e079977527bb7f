public import APNSProtocol

/// The state of a simulator: teams with their apps, keys and certificates; devices and channels of both environments;
/// and the switches of the rules.
public struct SimulatorState: Sendable {
    struct App: Sendable {
        let bundleID: String
        var teamID: String
        var addedInGeneration: Int
        /// Whether the app has the Broadcast capability.
        var allowsBroadcasts: Bool
    }

    var teams: Set<String> = []
    var keys: [String: RegisteredKey] = [:]
    var certificates: [SHA256Value: RegisteredCertificate] = [:]
    var apps: [String: App] = [:]
    private var devices = DeviceTable()
    var channels = ChannelTable()
    /// Rules for device tokens that are not registered. The first matching rule applies.
    public var deviceRules: [DeviceRule] = []
    /// The state of device tokens that are not registered and match no rule.
    public var unknownDevices = DeviceCondition.bad
    /// Whether every well-formed topic belongs to every team.
    public var acceptsUnknownTopics = false { didSet { generation += 1 } }

    /// Switches for behavior that Apple does not document, or documents in two ways.
    public var rules = RuleOptions()

    /// A number that increases with each change of keys, certificates, apps and ``acceptsUnknownTopics``. Connections
    /// then verify their tokens and topics again.
    var generation = 0

    public init() {}

    /// Adds a team without apps and keys, unless the team exists.
    public mutating func addTeam(id: String) { teams.insert(id) }

    /// Adds a key, or replaces the key with the same ID. Adds the team of the key if the team is missing.
    public mutating func add(_ key: RegisteredKey) {
        teams.insert(key.teamID)
        keys[key.id] = key
        generation += 1
    }

    /// Revokes a key. Its tokens are refused from now on.
    public mutating func revokeKey(id: String) {
        keys[id]?.isRevoked = true
        generation += 1
    }

    /// Adds a provider's certificate, or replaces its registration. Adds the team of the certificate if the team is
    /// missing.
    public mutating func add(_ certificate: RegisteredCertificate) {
        teams.insert(certificate.teamID)
        certificates[certificate.fingerprint] = certificate
        generation += 1
    }

    /// Revokes a certificate. TLS refuses new connections with it from now on.
    public mutating func revokeCertificate(_ fingerprint: SHA256Value) {
        certificates[fingerprint]?.isRevoked = true
        generation += 1
    }

    /// Returns whether the certificate is registered and not revoked.
    func acceptsCertificate(_ fingerprint: SHA256Value) -> Bool { certificates[fingerprint]?.isRevoked == false }

    func isRevokedCertificate(_ fingerprint: SHA256Value) -> Bool { certificates[fingerprint]?.isRevoked == true }

    /// Adds an app to a team, or moves the app to the team. Adds the team if the team is missing.
    ///
    /// - Parameter allowsBroadcasts: whether the app has the Broadcast capability. Removing the capability deletes all
    ///   channels of the app (Apple, "Setting up broadcast push notifications").
    public mutating func addApp(bundleID: String, teamID: String, allowsBroadcasts: Bool = false) {
        teams.insert(teamID)
        generation += 1
        if !allowsBroadcasts { channels.removeAll(bundleID: bundleID) }
        // Connections that are already bound can use the app only if its team has not changed.
        let known = apps[bundleID].flatMap { $0.teamID == teamID ? $0.addedInGeneration : nil }
        apps[bundleID] = App(
            bundleID: bundleID, teamID: teamID, addedInGeneration: known ?? generation,
            allowsBroadcasts: allowsBroadcasts)
    }

    /// Adds a channel, or replaces the app's channel with the same ID and environment. Without the Broadcast
    /// capability, the app cannot use the channel.
    public mutating func add(_ channel: Channel) {
        channels.insert(channel)
    }

    /// Deletes a channel. Returns the deleted channel; nil if the app has no such channel.
    @discardableResult
    public mutating func removeChannel(
        id: String, bundleID: String, environment: APNSEnvironment
    ) -> Channel? {
        channels.remove(id: id, bundleID: bundleID, environment: environment)
    }

    /// All channels, the oldest first.
    public var allChannels: [Channel] { channels.all }

    /// Returns an app's channels in one environment, the oldest first.
    func channels(bundleID: String, environment: APNSEnvironment) -> [Channel] {
        channels.channels(bundleID: bundleID, environment: environment)
    }

    /// Returns whether an app may have another channel.
    func hasRoomForChannel(bundleID: String, environment: APNSEnvironment) -> Bool {
        channels.count < ChannelTable.channelsMax
            && channels.count(bundleID: bundleID, environment: environment) < APNSLimits.channelsPerAppMax
    }

    func channel(id: String, bundleID: String, environment: APNSEnvironment) -> Channel? {
        channels.channel(id: id, bundleID: bundleID, environment: environment)
    }

    /// Returns whether any app has a channel with this ID, in either environment.
    func hasChannel(id: String) -> Bool { channels.contains(id: id) }

    func allowsBroadcasts(bundleID: String) -> Bool {
        apps[bundleID]?.allowsBroadcasts ?? acceptsUnknownTopics
    }

    /// Registers a device, or replaces the device with the same token.
    public mutating func add(_ device: Device) {
        devices.insert(device)
    }

    /// Returns a registered device; nil if the token is not registered.
    ///
    /// - Parameter token: hexadecimal digits of either case.
    func device(token: [UInt8]) -> Device? { token.withUnsafeBytes { devices[$0] } }

    /// Removes a device. Returns the removed device; nil if the token is not registered.
    @discardableResult
    mutating func removeDevice(token: [UInt8]) -> Device? { devices.remove(token: token) }

    public var deviceCount: Int { devices.count }

    /// All devices, sorted by token.
    var devicesInOrder: [Device] { devices.all.sorted { $0.token.lexicographicallyPrecedes($1.token) } }

    func key(id: String) -> RegisteredKey? { keys[id] }

    /// Returns whether an app belongs to the team and has belonged to it since the given generation. Always true with
    /// ``acceptsUnknownTopics``.
    func allows(teamID: String, bundleID: String, sinceGeneration generation: Int) -> Bool {
        if acceptsUnknownTopics { return true }
        guard let app = apps[bundleID] else { return false }
        return app.teamID == teamID && app.addedInGeneration <= generation
    }

    /// Returns the state of a device token for an app's pushes in an environment.
    func condition(
        ofToken token: UnsafeRawBufferPointer, bundleID: String, in environment: APNSEnvironment
    ) -> DeviceCondition {
        if let device = devices[token] {
            // A token of the other environment is bad here, regardless of `unknownDevices`.
            if let home = device.environment, home != environment { return .bad }
            return device.bundleID == bundleID ? device.condition : .notForTopic
        }
        for rule in deviceRules where rule.covers(token) { return rule.condition }
        return unknownDevices
    }
}
