import APNSProtocol
import Crypto
import JSON

/// Reads what is known of the world from a file. Every fault names its line.
struct StateFile {
    /// How the faults call the file.
    let name: String
    /// For devices that are said to be unregistered without a time: a day before, in milliseconds since 1970.
    let sinceMilliseconds: Int64
    let position: (JSONValue) -> JSONPosition
    /// Reads a file whose path stands in this one, relative to it.
    let readFile: (String) throws(SimulatorError) -> [UInt8]

    func read(_ root: JSONValue) throws(SimulatorError) -> SimulatorState {
        var state = SimulatorState()
        let file = try Fields(
            root, of: self, "the file",
            known: ["teams", "devices", "device_rules", "unknown_devices", "accept_unknown_topics"])
        for team in try file.elements("teams") { try readTeam(team, into: &state) }
        for device in try file.elements("devices") { try readDevice(device, into: &state) }
        for rule in try file.elements("device_rules") { try readRule(rule, into: &state) }
        if let word = file["unknown_devices"] { state.unknownDevices = try condition(word, since: nil) }
        if let accepts = file["accept_unknown_topics"] {
            guard let accepts = accepts.bool else { throw fault(accepts, "accept_unknown_topics is true or false") }
            state.acceptsUnknownTopics = accepts
        }
        return state
    }

    private func readTeam(_ value: JSONValue, into state: inout SimulatorState) throws(SimulatorError) {
        let team = try Fields(value, of: self, "a team", known: ["id", "apps", "keys", "certificates"])
        let teamID = try team.text("id")
        for app in try team.elements("apps") {
            if let bundleID = app.string {
                state.addApp(bundleID: bundleID, teamID: teamID)
            } else {
                let fields = try Fields(app, of: self, "an app", known: ["bundle_id", "broadcast"])
                state.addApp(
                    bundleID: try fields.text("bundle_id"), teamID: teamID,
                    allowsBroadcasts: try fields.bool("broadcast") ?? false)
            }
        }
        for key in try team.elements("keys") { state.add(try readKey(key, teamID: teamID)) }
        for certificate in try team.elements("certificates") {
            state.add(try readCertificate(certificate, teamID: teamID))
        }
    }

    private func readKey(_ value: JSONValue, teamID: String) throws(SimulatorError) -> RegisteredKey {
        let fields = try Fields(
            value, of: self, "a key",
            known: ["id", "public_key", "public_key_file", "environments", "topics", "related_key", "revoked"])
        let pem = try fields.pem("public_key")
        let publicKey: ES256PublicKey
        do throws(CryptoError) {
            publicKey = try ES256PublicKey(pem: pem)
        } catch {
            throw fault(value, "\(error)")
        }
        var key = RegisteredKey(id: try fields.text("id"), teamID: teamID, publicKey: publicKey)
        if let environments = fields["environments"] {
            key.environments = []
            for environment in environments.elements { key.environments.insert(try self.environment(environment)) }
            guard !key.environments.isEmpty else { throw fault(environments, "environments is a list of them") }
        }
        if let topics = fields["topics"] {
            var bundleIDs: Set<String> = []
            for topic in try fields.elements("topics") {
                guard let bundleID = topic.string else { throw fault(topic, "a key's topic is a bundle ID") }
                bundleIDs.insert(bundleID)
            }
            guard !bundleIDs.isEmpty else { throw fault(topics, "topics is a list of bundle IDs") }
            let related = fields["related_key"] == nil ? nil : try fields.text("related_key")
            key.scope = .topics(bundleIDs, relatedKeyID: related)
        } else if let related = fields["related_key"] {
            throw fault(related, "only a key with topics has a related_key")
        }
        key.isRevoked = try fields.bool("revoked") ?? false
        return key
    }

    private func readCertificate(
        _ value: JSONValue, teamID: String
    ) throws(SimulatorError) -> RegisteredCertificate {
        let fields = try Fields(
            value, of: self, "a certificate", known: ["certificate", "certificate_file", "revoked"])
        let pem = String(decoding: try fields.pem("certificate"), as: UTF8.self)
        var certificate: RegisteredCertificate
        do throws(CryptoError) {
            certificate = try RegisteredCertificate(pem: pem, teamID: teamID)
        } catch {
            throw fault(value, "\(error)")
        }
        certificate.isRevoked = try fields.bool("revoked") ?? false
        return certificate
    }

    private func readDevice(_ value: JSONValue, into state: inout SimulatorState) throws(SimulatorError) {
        let fields = try Fields(
            value, of: self, "a device", known: ["token", "app", "environment", "state", "since_ms"])
        let token = try fields.text("token")
        guard DeviceToken.isWellFormed(token.utf8) else {
            throw fault(value, "a device's token is an even number of hexadecimal digits")
        }
        state.add(
            Device(
                token: token, bundleID: try fields.text("app"),
                environment: try fields["environment"].map { value throws(SimulatorError) in try environment(value) },
                condition: try fields["state"].map { value throws(SimulatorError) in
                    try condition(value, since: fields["since_ms"])
                } ?? .active))
    }

    private func readRule(_ value: JSONValue, into state: inout SimulatorState) throws(SimulatorError) {
        let fields = try Fields(value, of: self, "a device rule", known: ["prefix", "state", "since_ms"])
        let prefix = try fields.text("prefix")
        guard prefix.utf8.allSatisfy(DeviceToken.isHexDigit) else {
            throw fault(value, "a rule's prefix is hexadecimal digits")
        }
        guard let word = fields["state"] else { throw fault(value, "a device rule has a state") }
        state.deviceRules.append(
            DeviceRule(prefix: prefix, condition: try condition(word, since: fields["since_ms"])))
    }

    private func condition(_ word: JSONValue, since: JSONValue?) throws(SimulatorError) -> DeviceCondition {
        var milliseconds = sinceMilliseconds
        if let since {
            guard let given = since.int64, given >= 0 else { throw fault(since, "since_ms is milliseconds since 1970") }
            milliseconds = given
        }
        switch word.string {
        case "active": return .active
        case "unregistered": return .unregistered(sinceMilliseconds: milliseconds)
        case "expired": return .expired(sinceMilliseconds: milliseconds)
        case "bad": return .bad
        case "not_for_topic": return .notForTopic
        default: throw fault(word, "a device's state is active, unregistered, expired, bad or not_for_topic")
        }
    }

    private func environment(_ word: JSONValue) throws(SimulatorError) -> APNSEnvironment {
        guard let environment = word.string.flatMap(APNSEnvironment.init(rawValue:)) else {
            throw fault(word, "an environment is production or sandbox")
        }
        return environment
    }

    fileprivate func fault(_ value: JSONValue, _ what: String) -> SimulatorError {
        let place = position(value)
        return SimulatorError(.badInput, "\(name):\(place.line):\(place.column): \(what)")
    }
}

/// A mapping of the file of which all keys are known.
private struct Fields {
    private let value: JSONValue
    private let file: StateFile
    private let what: String

    init(_ value: JSONValue, of file: StateFile, _ what: String, known: [String]) throws(SimulatorError) {
        guard value.kind == .object else { throw file.fault(value, "\(what) is a mapping") }
        for (key, _) in value.members where !known.contains(key.string ?? "") {
            throw file.fault(key, "\(what) has no key \(key.string ?? ""); it has \(known.joined(separator: ", "))")
        }
        self.value = value
        self.file = file
        self.what = what
    }

    subscript(key: String) -> JSONValue? { value[key: key] }

    func text(_ key: String) throws(SimulatorError) -> String {
        guard let text = value[key: key]?.string, !text.isEmpty else {
            let hint = value[key: key]?.kind == .number ? "; put it in quotes" : ""
            throw file.fault(value[key: key] ?? value, "\(what) has a text \(key)\(hint)")
        }
        return text
    }

    /// A PEM text under this key, or that of the file under the key with `_file` behind it.
    func pem(_ key: String) throws(SimulatorError) -> [UInt8] {
        switch (value[key: key], value[key: key + "_file"]) {
        case (let text?, nil):
            guard let text = text.string else { throw file.fault(text, "\(key) is a PEM text") }
            return Array(text.utf8)
        case (nil, let path?):
            guard let text = path.string else { throw file.fault(path, "\(key)_file is a path") }
            return try file.readFile(text)
        default: throw file.fault(value, "\(what) has either \(key) or \(key)_file")
        }
    }

    func bool(_ key: String) throws(SimulatorError) -> Bool? {
        guard let value = value[key: key] else { return nil }
        guard let bool = value.bool else { throw file.fault(value, "\(key) is true or false") }
        return bool
    }

    func elements(_ key: String) throws(SimulatorError) -> JSONElements {
        guard let list = value[key: key] else { return value.nothing }
        guard list.kind == .array else { throw file.fault(list, "\(key) is a list") }
        return list.elements
    }
}

extension JSONValue {
    /// The elements of a value that is an object: none.
    fileprivate var nothing: JSONElements { elements }
}
