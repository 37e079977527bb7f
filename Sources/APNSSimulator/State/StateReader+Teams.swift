import APNSProtocol
import Crypto
import JSON

extension StateReader {
    static let teamMembers = ["id", "apps", "keys", "certificates"]

    /// Bytes of a team's or a key's id; Apple's have ten.
    static let idBytesMax = 64

    func readTeam(_ value: JSONValue, into state: inout SimulatorState) throws(InputError) {
        let members = try Members(value, "a team", known: Self.teamMembers)
        let id = try members.id(bytesMax: Self.idBytesMax)
        guard !state.teamIDs.contains(id) else { throw members.error("id", "\(id) is another team's, too") }
        try readTeam(members, id: id, into: &state)
    }

    /// Reads all of a team but its id.
    func readTeam(_ members: Members, id: String, into state: inout SimulatorState) throws(InputError) {
        state.addTeam(id: id)
        for app in try members.elements("apps") { try readApp(app, teamID: id, into: &state) }
        for value in try members.elements("keys") {
            let key = try key(value, teamID: id)
            guard state.key(id: key.id) == nil else {
                throw InputError("there is a key \(key.id) already", node: value.nodeIndex)
            }
            state.add(key)
        }
        for certificate in try members.elements("certificates") {
            state.add(try self.certificate(certificate, teamID: id))
        }
    }

    /// A bundle ID, or an object that says more of the app.
    ///
    /// - Parameter id: the app's bundle ID, when it stands elsewhere; nil when the value has it.
    func app(_ value: JSONValue, id: String? = nil) throws(InputError) -> (bundleID: String, allowsBroadcasts: Bool) {
        if let bundleID = value.string, id == nil {
            try Self.checkBundleID(bundleID, value)
            return (bundleID, false)
        }
        let members = try Members(value, "an app", known: ["bundle_id", "broadcast"])
        let bundleID = try members.id("bundle_id", standing: id)
        try Self.checkBundleID(bundleID, value)
        return (bundleID, try members.bool("broadcast") ?? false)
    }

    private func readApp(
        _ value: JSONValue, teamID: String, into state: inout SimulatorState
    ) throws(InputError) {
        let (bundleID, allowsBroadcasts) = try app(value)
        if let other = state.app(bundleID: bundleID) {
            throw InputError(
                "the app \(bundleID) stands in team \(other.teamID) already", node: value.nodeIndex)
        }
        state.addApp(bundleID: bundleID, teamID: teamID, allowsBroadcasts: allowsBroadcasts)
    }

    /// - Parameters:
    ///   - id: the key's, when it stands elsewhere; nil when the value has it.
    ///   - known: the key as it was: what the value does not name stays.
    func key(
        _ value: JSONValue, id: String? = nil, teamID: String, known: RegisteredKey? = nil
    ) throws(InputError) -> RegisteredKey {
        let members = try Members(
            value, "a key",
            known: ["id", "public_key", "public_key_file", "environments", "topics", "related_key", "revoked"])
        let id = try members.id(standing: id, bytesMax: Self.idBytesMax)
        var key: RegisteredKey
        if let known {
            key = known
            if members["public_key"] != nil || members["public_key_file"] != nil {
                key.publicKey = try publicKey(of: members)
            }
        } else {
            key = RegisteredKey(id: id, teamID: teamID, publicKey: try publicKey(of: members))
        }
        if members["environments"] != nil {
            key.environments = []
            for environment in try members.elements("environments") {
                key.environments.insert(try Members.word(environment, "an environment"))
            }
            guard !key.environments.isEmpty else { throw members.error("environments", "names one at least") }
        }
        key.scope = try scope(of: members, known: key.scope)
        if let isRevoked = try members.bool("revoked") { key.isRevoked = isRevoked }
        return key
    }

    private func scope(of members: Members, known: RegisteredKey.Scope) throws(InputError) -> RegisteredKey.Scope {
        var topics: Set<String>?
        var related: String?
        if case .topics(let bundleIDs, let relatedKeyID) = known { (topics, related) = (bundleIDs, relatedKeyID) }
        if members["topics"] != nil { topics = try self.topics(of: members) }
        if let id = try members.text("related_key", bytesMax: Self.idBytesMax) { related = id }
        guard let topics else {
            if related != nil { throw members.error("related_key", "belongs to a key with topics") }
            return .team
        }
        return .topics(topics, relatedKeyID: related)
    }

    private func publicKey(of members: Members) throws(InputError) -> ES256PublicKey {
        let pem = try pem("public_key", of: members)
        do throws(CryptoError) {
            return try ES256PublicKey(pem: pem)
        } catch {
            throw members.error("\(error)")
        }
    }

    private func topics(of members: Members) throws(InputError) -> Set<String> {
        var topics: Set<String> = []
        for topic in try members.elements("topics") {
            guard let bundleID = topic.string else {
                throw InputError("a key's topic is a bundle ID", node: topic.nodeIndex)
            }
            try Self.checkBundleID(bundleID, topic)
            topics.insert(bundleID)
        }
        guard !topics.isEmpty else { throw members.error("topics", "names a bundle ID at least") }
        return topics
    }

    private func certificate(_ value: JSONValue, teamID: String) throws(InputError) -> RegisteredCertificate {
        let members = try Members(value, "a certificate", known: ["certificate", "certificate_file", "revoked"])
        let pem = String(decoding: try pem("certificate", of: members), as: UTF8.self)
        var certificate: RegisteredCertificate
        do throws(CryptoError) {
            certificate = try RegisteredCertificate(pem: pem, teamID: teamID)
        } catch {
            throw members.error("\(error)")
        }
        certificate.isRevoked = try members.bool("revoked") ?? false
        return certificate
    }

    /// The text of a member, or that of the file that the member with `_file` behind its name says.
    private func pem(_ name: String, of members: Members) throws(InputError) -> [UInt8] {
        let file = "\(name)_file"
        switch (members[name], members[file]) {
        case (let text?, nil):
            guard let text = text.string else { throw members.error(name, "is a PEM text") }
            return Array(text.utf8)
        case (nil, let path?):
            guard let readFile else { throw members.error(file, "is for files; here the text stands in \(name)") }
            guard let text = path.string else { throw members.error(file, "is a path") }
            do throws(InputError) {
                return try readFile(text)
            } catch {
                throw members.error(file, "is of no use: \(error.message)")
            }
        default: throw members.error("either \(name) or \(file) is needed")
        }
    }
}
