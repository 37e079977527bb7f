import APNSProtocol
import JSON

extension StateReader {
    func readDevice(_ value: JSONValue, into state: inout SimulatorState) throws(InputError) {
        let device = try device(value)
        guard state.device(token: device.token) == nil else {
            throw InputError(
                "the device \(DeviceToken.shortened(device.token)) is there already", node: value.nodeIndex)
        }
        state.add(device)
    }

    /// - Parameters:
    ///   - token: the device's, when it stands elsewhere; nil when the value has it.
    ///   - known: the device as it was: what the value does not name stays.
    func device(_ value: JSONValue, token: String? = nil, known: Device? = nil) throws(InputError) -> Device {
        let members = try Members(
            value, "a device", known: ["token", "app", "environment", "state", "since_ms"])
        let token = try members.id("token", standing: token, bytesMax: DeviceToken.hexDigitsMax)
        guard DeviceToken.isWellFormed(token.utf8) else {
            throw members.error("token", "is an even number of hexadecimal digits")
        }
        guard let bundleID = try members.text("app") ?? known?.bundleID else { throw members.missing("app") }
        if let app = members["app"] { try Self.checkBundleID(bundleID, app) }
        var device = known ?? Device(token: token, bundleID: bundleID)
        device.bundleID = bundleID
        if let environment = try members.word("environment") as APNSEnvironment? { device.environment = environment }
        if members["state"] != nil || members["since_ms"] != nil { device.condition = try condition(members) }
        return device
    }

    func deviceRule(_ value: JSONValue) throws(InputError) -> DeviceRule {
        let members = try Members(value, "a device rule", known: ["prefix", "state", "since_ms"])
        guard let prefix = members["prefix"] else { throw members.missing("prefix") }
        guard let text = prefix.string, text.utf8.count <= DeviceToken.hexDigitsMax,
            text.utf8.allSatisfy(DeviceToken.isHexDigit)
        else { throw members.error("prefix", "is hexadecimal digits\(prefix.kind == .number ? " in quotes" : "")") }
        return DeviceRule(prefix: text, condition: try condition(members))
    }

    /// What all device tokens are that nothing else is said of: a word, or an object with its time.
    func condition(_ value: JSONValue) throws(InputError) -> DeviceCondition {
        guard value.kind == .object else { return condition(try Members.word(value, "unknown_devices"), since: nil) }
        return try condition(try Members(value, "unknown_devices", known: ["state", "since_ms"]))
    }

    private func condition(_ members: Members) throws(InputError) -> DeviceCondition {
        guard let word = try members.word("state") as DeviceCondition.Word? else { throw members.missing("state") }
        let since = try members.int("since_ms", 0...Int.max)
        guard since == nil || word.hasTime else {
            throw members.error("since_ms", "belongs to unregistered and expired")
        }
        return condition(word, since: since)
    }

    private func condition(_ word: DeviceCondition.Word, since: Int?) -> DeviceCondition {
        let milliseconds = since.map(Int64.init) ?? sinceMilliseconds
        return switch word {
        case .active: .active
        case .unregistered: .unregistered(sinceMilliseconds: milliseconds)
        case .expired: .expired(sinceMilliseconds: milliseconds)
        case .bad: .bad
        case .notForTopic: .notForTopic
        }
    }

    func readChannel(_ value: JSONValue, into state: inout SimulatorState) throws(InputError) {
        let channel = try channel(value)
        let isKnown = state.channel(
            id: channel.id, bundleID: channel.bundleID, environment: channel.environment)
        guard isKnown == nil else {
            throw InputError("the channel \(channel.id) is there already", node: value.nodeIndex)
        }
        state.add(channel)
    }

    private func channel(_ value: JSONValue) throws(InputError) -> Channel {
        let members = try Members(value, "a channel", known: ["app", "environment", "id", "storage_policy"])
        guard let bundleID = try members.text("app") else { throw members.missing("app") }
        if let app = members["app"] { try Self.checkBundleID(bundleID, app) }
        guard let environment = try members.word("environment") as APNSEnvironment? else {
            throw members.missing("environment")
        }
        guard let id = try members.text("id", bytesMax: Channel.idBytesMax) else { throw members.missing("id") }
        guard Channel.isWellFormedID(Array(id.utf8)) else {
            throw members.error("id", "is base64 of at most \(Channel.idBytesMax) characters")
        }
        return Channel(
            id: id, bundleID: bundleID, environment: environment, storagePolicy: try storagePolicy(members))
    }

    /// 0 or 1, as in Apple's `message-storage-policy`.
    func storagePolicy(_ members: Members) throws(InputError) -> Channel.StoragePolicy {
        guard let number = try members.int("storage_policy", 0...1),
            let policy = Channel.StoragePolicy(rawValue: number)
        else { throw members.missing("storage_policy") }
        return policy
    }
}

extension DeviceCondition {
    /// What it is called in states.
    enum Word: String, CaseIterable {
        case active
        case unregistered
        case expired
        case bad
        case notForTopic = "not_for_topic"

        var hasTime: Bool {
            switch self {
            case .unregistered, .expired: true
            case .active, .bad, .notForTopic: false
            }
        }
    }

    var word: Word {
        switch self {
        case .active: .active
        case .unregistered: .unregistered
        case .expired: .expired
        case .bad: .bad
        case .notForTopic: .notForTopic
        }
    }

    /// Since when it is known to be inactive, in milliseconds since 1970; nil for what has no time.
    var sinceMilliseconds: Int64? {
        switch self {
        case .unregistered(let since), .expired(let since): since
        case .active, .bad, .notForTopic: nil
        }
    }
}
