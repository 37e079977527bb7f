import APNSProtocol
public import JSON

/// Reads what a simulator is told of its world. Every mistake is told with the value at fault.
public struct StateReader {
    /// A path that stands in what is read, and what is in the file.
    public typealias FileSource = (String) throws(InputError) -> [UInt8]

    /// For device tokens that are said to be inactive without a time, in milliseconds since 1970.
    let sinceMilliseconds: Int64
    /// nil where no files can be named, as in what comes over HTTP.
    let readFile: FileSource?

    /// - Parameters:
    ///   - sinceMilliseconds: since when device tokens are inactive that are said to be so without a time.
    ///   - readFile: reads a file that is named; nil: none can be.
    public init(sinceMilliseconds: Int64, readFile: FileSource? = nil) {
        self.sinceMilliseconds = sinceMilliseconds
        self.readFile = readFile
    }

    /// - Throws: a sentence, and the value that it is about.
    public func document(_ root: JSONValue) throws(InputError) -> StateDocument {
        let members = try Members(
            root, "a state",
            known: [
                "teams", "devices", "device_rules", "unknown_devices", "accept_unknown_topics", "channels", "faults",
                "rules", "clock_offset_seconds",
            ])
        var document = StateDocument()
        if let rules = members["rules"] { try read(rules, into: &document.state.rules) }
        document.state.acceptsUnknownTopics = try members.bool("accept_unknown_topics") ?? false
        for team in try members.elements("teams") { try readTeam(team, into: &document.state) }
        for device in try members.elements("devices") { try readDevice(device, into: &document.state) }
        for rule in try members.elements("device_rules") { document.state.deviceRules.append(try deviceRule(rule)) }
        if let condition = members["unknown_devices"] {
            document.state.unknownDevices = try self.condition(condition)
        }
        for channel in try members.elements("channels") { try readChannel(channel, into: &document.state) }
        document.faults = try faults(try members.elements("faults"))
        document.clockOffset = try members.clockOffset("clock_offset_seconds")
        return document
    }

    func read(_ value: JSONValue, into rules: inout RuleOptions) throws(InputError) {
        let members = try Members(value, "rules", known: RuleSwitch.all.map(\.name))
        for rule in RuleSwitch.all { try rule.read(members, &rules) }
    }

    private func faults(_ values: [JSONValue]) throws(InputError) -> [Fault] {
        var rules = FaultRules()
        for value in values {
            let fault = try FaultReader().fault(value, makeID: { rules.makeID() })
            guard !rules.entries.contains(where: { $0.fault.id == fault.id }) else {
                throw InputError("there is a fault \(fault.id) already", node: value.nodeIndex)
            }
            do throws(InputError) {
                try rules.put(fault)
            } catch {
                throw InputError(error.message, node: value.nodeIndex)
            }
        }
        return rules.entries.map(\.fault)
    }

    /// A bundle ID, or a topic that stands for one, as for `mdm`.
    static func checkBundleID(_ text: String, _ value: JSONValue) throws(InputError) {
        guard Array(text.utf8).withUnsafeBytes({ HeaderForm.isTopic($0) }) else {
            throw InputError(
                "a bundle ID is at most \(HeaderForm.topicBytesMax) letters, digits, full stops, hyphens or underscores",
                node: value.nodeIndex)
        }
    }
}
