import APNSProtocol
import EventLoop
public import JSON

/// The codec of states for state files in YAML and for the admin API in JSON. Errors refer to the invalid value.
struct StateCodec: Sendable {
    /// A function that returns the bytes of a file that the text names.
    typealias FileSource = @Sendable (_ path: String) throws(InputError) -> [UInt8]

    /// The time at which devices became inactive if the text has no time, in milliseconds since 1970.
    let sinceMilliseconds: Int64
    /// The source of named files; nil if texts cannot name files, as over HTTP.
    var readFile: FileSource?

    /// A codec that only writes states, because it has no default time.
    static let writer = StateCodec(sinceMilliseconds: 0)

    var document: ObjectCodec<StateDocument> {
        let (team, device, deviceRule, channel) = (team, device, deviceRule, channel)
        return ObjectCodec(
            "a state", from: StateDocument(),
            [
                .list(
                    "teams", "teams with their apps, keys and certificates",
                    read: { json, document throws(InputError) in
                        var next = StateTeam(state: document.state)
                        try team.read(json, into: &next)
                        guard !document.state.hasTeam(id: next.id) else {
                            throw InputError("team \(next.id) already exists", node: json["id"]?.nodeIndex)
                        }
                        document.state = next.state
                        document.state.addTeam(id: next.id)
                    },
                    elements: { document in document.state.teamIDs.map { StateTeam(state: document.state, id: $0) } },
                    write: { team.write($0, to: &$1) }),
                .list(
                    "devices", "registered devices",
                    read: { json, document throws(InputError) in
                        try document.state.addNew(try device.read(json))
                    }, elements: { $0.state.devicesInOrder }, write: { device.write($0, to: &$1) }),
                .member(
                    "device_rules", \.state.deviceRules, .list(of: deviceRule.value, "a device rule"),
                    "states of tokens that are not listed"),
                .member(
                    "unknown_devices", \.state.unknownDevices, unknownDevices,
                    "state of all other tokens, or an object with `state` and `since_ms` (default: `bad`)"),
                .member(
                    "accept_unknown_topics", \.state.acceptsUnknownTopics, .bool,
                    "whether every team may push to every topic"),
                .list(
                    "channels", "channels",
                    read: { json, document throws(InputError) in
                        try document.state.addNew(try channel.read(json))
                    }, elements: { $0.state.allChannels }, write: { channel.write($0, to: &$1) }),
                .list(
                    "faults", "faults, as in the admin API",
                    read: { json, document throws(InputError) in
                        try document.addNew(try Fault.codec.read(json, "a fault"))
                    }, elements: \.faults, write: { Fault.codec.write($0, to: &$1) }),
                .member("rules", \.state.rules, RuleOptions.codec.value, "switches"),
                .optional(
                    "clock_offset_seconds", \.clockOffset, .clockOffset,
                    "seconds by which the simulator's clock is ahead of the machine's"),
            ])
    }
}

extension StateDocument {
    /// Writes a JSON object.
    public func write(to json: inout JSONWriter) { StateCodec.writer.document.write(self, to: &json) }

    fileprivate mutating func addNew(_ fault: Fault) throws(InputError) {
        guard !faults.contains(where: { $0.id == fault.id }) else {
            throw InputError("fault \(fault.id) already exists")
        }
        var rules = FaultRules(faults: faults)
        try rules.put(rules.identified(fault))
        faults = rules.entries.map(\.fault)
    }
}

extension ValueCodec<Duration> {
    /// Maximum offset of the clock: ten years.
    private static var offsetSecondsMax: Double { 315_576_000 }

    /// The codec of the seconds by which a clock is ahead, or behind if negative.
    static var clockOffset: Self {
        ValueCodec<Double>.number(-offsetSecondsMax...offsetSecondsMax).mapped(
            read: { .nanoseconds(Int64($0 * 1_000_000_000)) },
            write: { Double($0.nanosecondsSaturated) / 1_000_000_000 })
    }
}

extension ValueCodec<String> {
    static var bundleIDForm: String {
        "a bundle ID: at most \(HeaderForm.topicBytesMax) letters, digits, periods, hyphens or underscores"
    }

    /// The codec of a bundle ID, or of an `mdm` topic.
    static var bundleID: Self { text(1...HeaderForm.topicBytesMax).checked(bundleIDForm, isBundleID) }

    @Sendable static func isBundleID(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { HeaderForm.isTopic($0) }
    }
}
