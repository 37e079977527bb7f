import AMQP
import Crypto
import Registrations

/// The progress of an expansion: the place after the last child, and the counts of the report.
struct FanoutCursor: Sendable, Hashable {
    /// The largest number that the header may contain.
    private static let countMax = 1_000_000
    private static let sharedPrefix = "+"

    /// The index of the first user whose devices do not all have children.
    var user = 0
    /// The key of this user's last device that has a child; nil if none has.
    var key: Registration.Key?
    /// The number of children before this place.
    var deviceCount = 0
    var usersWithoutDevice = 0
    /// The shared tokens among the devices before this place.
    var sharedTokens = SharedTokens()

    init() {}

    /// Whether no user and no device is before this place.
    var isAtStart: Bool { user == 0 && key == nil && deviceCount == 0 }

    /// Reads the value of the header ``MessageHeaderName/cursor``; nil for a malformed value.
    init?(_ text: String) {
        var words = text.split(separator: " ", omittingEmptySubsequences: false)
        if let last = words.last, last.hasPrefix(Self.sharedPrefix) {
            guard let tokens = SharedTokens(last.dropFirst(Self.sharedPrefix.count)) else { return nil }
            sharedTokens = tokens
            words.removeLast()
        }
        guard words.count == 3 || words.count == 5 else { return nil }
        let numbers = words.prefix(3).compactMap { Int($0) }.filter { 0...Self.countMax ~= $0 }
        guard numbers.count == 3 else { return nil }
        (user, deviceCount, usersWithoutDevice) = (numbers[0], numbers[1], numbers[2])
        guard words.count == 5 else { return }
        guard let token = UUIDValue(words[3]), let slot = UUIDValue(words[4]) else { return nil }
        key = Registration.Key(token: token, slot: slot)
    }

    /// The value of the header: at most 100 characters, and eight for each shared token.
    var text: String {
        var words = ["\(user) \(deviceCount) \(usersWithoutDevice)"]
        if let key { words.append("\(key.token) \(key.slot)") }
        if !sharedTokens.isEmpty { words.append(Self.sharedPrefix + sharedTokens.text) }
        return words.joined(separator: " ")
    }
}

extension FanoutCursor {
    /// Reads the cursor of a delivery. The expansion starts over without a valid cursor, or if an operator corrected
    /// the request. The cursor of any producer is trusted, since it affects only the producer's own request.
    init(of properties: MessageProperties) {
        guard let text = properties.header(MessageHeaderName.cursor)?.stringValue,
            properties.header(MessageHeaderName.editedFrom) == nil, let cursor = FanoutCursor(text)
        else {
            self.init()
            return
        }
        self = cursor
    }
}
