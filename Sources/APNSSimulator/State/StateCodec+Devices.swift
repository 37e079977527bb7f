import APNSProtocol
import JSON

extension StateCodec {
    var device: ObjectCodec<Device> {
        ObjectCodec(
            "a device", from: Device(token: "", bundleID: ""),
            [
                .identity("token", \.token, .deviceToken, "device token"),
                .required("app", \.bundleID, .bundleID, "bundle ID of the app"),
                .optional(
                    "environment", \.environment, .word, "environment in which the token is valid (default: both)"),
                condition(\.condition),
            ])
    }

    var deviceRule: ObjectCodec<DeviceRule> {
        ObjectCodec(
            "a device rule", from: DeviceRule(prefix: "", condition: .active),
            [
                .required("prefix", \.prefix, .tokenPrefix, "start of the tokens; empty for all tokens"),
                condition(\.condition, isRequired: true),
            ])
    }

    /// The codec of the state of unknown devices: a word, or an object with further members.
    var unknownDevices: ValueCodec<DeviceCondition> {
        let whole = ObjectCodec(
            "unknown_devices", from: DeviceCondition.active, [condition(\.self, isRequired: true)])
        return whole.value.abbreviated(
            .word, expand: { condition(ConditionMembers(word: $0)) },
            abbreviate: { $0.sinceMilliseconds == nil ? $0.word : nil })
    }

    private func condition<Object>(
        _ path: ObjectField<Object>.Path<DeviceCondition>, isRequired: Bool = false
    ) -> ObjectField<Object> {
        .group(
            ConditionMembers.codec, isRequired: isRequired, get: { ConditionMembers($0[keyPath: path]) },
            set: { members, _, object in object[keyPath: path] = condition(members) })
    }

    private func condition(_ members: ConditionMembers) -> DeviceCondition {
        let milliseconds = members.sinceMilliseconds ?? sinceMilliseconds
        return switch members.word {
        case .active: .active
        case .unregistered: .unregistered(sinceMilliseconds: milliseconds)
        case .expired: .expired(sinceMilliseconds: milliseconds)
        case .bad: .bad
        case .notForTopic: .notForTopic
        }
    }

    var channel: ObjectCodec<Channel> {
        ObjectCodec(
            "a channel", from: Channel(id: "", bundleID: "", environment: .sandbox, storagePolicy: .none),
            [
                .identity("app", \.bundleID, .bundleID, "bundle ID of the app"),
                .identity("environment", \.environment, .word, "environment"),
                .identity("id", \.id, .channelID, "channel ID"),
                .required(
                    "storage_policy", \.storagePolicy, .storagePolicy,
                    "0 or 1, as in Apple's `message-storage-policy`"),
            ])
    }
}

private struct ConditionMembers: Sendable {
    var word = DeviceCondition.Word.active
    /// The time at which the token became inactive; nil if the text has no time.
    var sinceMilliseconds: Int64?

    static let codec = ObjectCodec(
        "a condition", from: ConditionMembers(),
        [
            .required("state", \.word, .word, "state of the token"),
            .optional(
                "since_ms", \.sinceMilliseconds, .int(0...Int64.max),
                "time at which the token became inactive, in milliseconds since 1970"),
        ],
        check: { condition, members throws(InputError) in
            guard condition.sinceMilliseconds == nil || condition.word.hasTime else {
                throw members.error("since_ms", "requires the state unregistered or expired")
            }
        })
}

extension ConditionMembers {
    init(_ condition: DeviceCondition) {
        self.init(word: condition.word, sinceMilliseconds: condition.sinceMilliseconds)
    }
}

extension ValueCodec<[UInt8]> {
    /// The codec of a device token, in lower case.
    fileprivate static var deviceToken: Self {
        digits(
            ValueCodec<String>.text(1...DeviceToken.hexDigitsMax).checked("an even number of hexadecimal digits") {
                DeviceToken.isWellFormed($0.utf8)
            })
    }

    /// The codec of the start of device tokens, in lower case.
    fileprivate static var tokenPrefix: Self {
        digits(
            ValueCodec<String>.text(0...DeviceToken.hexDigitsMax).checked("hexadecimal digits") {
                $0.utf8.allSatisfy(DeviceToken.isHexDigit)
            })
    }

    private static func digits(_ text: ValueCodec<String>) -> Self {
        text.mapped(read: { $0.utf8.map(lowercased) }, write: { String(decoding: $0, as: UTF8.self) })
    }
}

extension ValueCodec<String> {
    fileprivate static var channelID: Self {
        text(1...Channel.idBytesMax).checked("base64 of at most \(Channel.idBytesMax) characters") {
            Channel.isWellFormedID(Array($0.utf8))
        }
    }
}

extension ValueCodec<Channel.StoragePolicy> {
    /// The codec of a storage policy: 0 or 1, as in Apple's `message-storage-policy`.
    fileprivate static var storagePolicy: Self {
        ValueCodec<Int>.int(0...1).mapped(read: { Channel.StoragePolicy(rawValue: $0) }, write: { $0.rawValue })
    }
}

extension SimulatorState {
    /// Registers a device. Throws if another device has the same token.
    mutating func addNew(_ device: Device) throws(InputError) {
        guard self.device(token: device.token) == nil else {
            throw InputError("device \(DeviceToken.shortened(device.token)) already exists")
        }
        add(device)
    }

    /// Adds a channel. Throws if another channel of the app in the same environment has the same ID.
    mutating func addNew(_ channel: Channel) throws(InputError) {
        let known = self.channel(id: channel.id, bundleID: channel.bundleID, environment: channel.environment)
        guard known == nil else { throw InputError("channel \(channel.id) already exists") }
        add(channel)
    }
}

extension DeviceCondition {
    /// The condition's name in JSON.
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

    /// The time at which the token became inactive, in milliseconds since 1970; nil for conditions without a time.
    var sinceMilliseconds: Int64? {
        switch self {
        case .unregistered(let since), .expired(let since): since
        case .active, .bad, .notForTopic: nil
        }
    }
}
