import APNSProtocol
import Crypto
public import JSON

// States as ``StateReader`` reads them; what has no order of its own is sorted, so that equal states give equal texts.

extension StateDocument {
    /// Writes one JSON object.
    public func write(to json: inout JSONWriter) {
        json.beginObject()
        json.list("teams", state.teamIDs) { state.writeTeam(id: $1, to: &$0) }
        json.list("devices", state.devicesInOrder) { $1.write(to: &$0) }
        json.list("device_rules", state.deviceRules) { $1.write(to: &$0) }
        json.key("unknown_devices")
        state.unknownDevices.writeWhole(to: &json)
        json.member("accept_unknown_topics", state.acceptsUnknownTopics)
        json.list("channels", state.allChannels) { $1.write(to: &$0) }
        json.list("faults", faults) { $1.write(to: &$0) }
        json.key("rules")
        state.rules.write(to: &json)
        json.endObject()
    }
}

extension RuleOptions {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        for rule in RuleSwitch.all {
            json.key(rule.name)
            rule.write(self, &json)
        }
        json.endObject()
    }
}

extension JSONWriter {
    /// A member that is a list.
    mutating func list<Element>(
        _ name: StaticString, _ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}

extension SimulatorState {
    /// Writes all that is known of a team.
    func writeTeam(id: String, to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.list("apps", apps(teamID: id)) { json, app in
            json.beginObject()
            json.member("bundle_id", app.bundleID)
            json.member("broadcast", app.allowsBroadcasts)
            json.endObject()
        }
        json.list("keys", keys(teamID: id)) { $1.write(to: &$0) }
        json.list("certificates", certificates(teamID: id)) { $1.write(to: &$0) }
        json.endObject()
    }
}

extension RegisteredKey {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("id", id)
        json.member("public_key", publicKey.pem)
        json.list("environments", environments.map(\.rawValue).sorted()) { $0.string($1) }
        if case .topics(let bundleIDs, let relatedKeyID) = scope {
            json.list("topics", bundleIDs.sorted()) { $0.string($1) }
            if let relatedKeyID { json.member("related_key", relatedKeyID) }
        }
        json.member("revoked", isRevoked)
        json.endObject()
    }
}

extension RegisteredCertificate {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("certificate", pem)
        json.member("revoked", isRevoked)
        json.endObject()
    }
}

extension Device {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("token", String(decoding: token, as: UTF8.self))
        json.member("app", bundleID)
        if let environment { json.member("environment", environment.rawValue) }
        condition.write(to: &json)
        json.endObject()
    }
}

extension DeviceRule {
    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("prefix", String(decoding: prefix, as: UTF8.self))
        condition.write(to: &json)
        json.endObject()
    }
}

extension DeviceCondition {
    /// Writes the members of an object that say it.
    fileprivate func write(to json: inout JSONWriter) {
        json.member("state", word.rawValue)
        if let sinceMilliseconds { json.member("since_ms", sinceMilliseconds) }
    }

    /// A word, or an object where there is more to say.
    fileprivate func writeWhole(to json: inout JSONWriter) {
        guard sinceMilliseconds != nil else { return json.string(word.rawValue) }
        json.beginObject()
        write(to: &json)
        json.endObject()
    }
}

extension Channel {
    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("app", bundleID)
        json.member("environment", environment.rawValue)
        json.member("id", id)
        json.member("storage_policy", storagePolicy.rawValue)
        json.endObject()
    }
}
