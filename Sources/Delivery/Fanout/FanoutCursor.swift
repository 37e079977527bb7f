import AMQP
import Crypto
import Registrations

/// The progress of an expansion: the place after the last published child.
struct FanoutCursor: Sendable, Hashable {
    /// The largest number that a cursor counts.
    private static let countMax = 1_000_000

    /// The number of users whose devices all have their children.
    var user = 0
    /// The key of the last device of the next user that has its child; nil if none has.
    var key: Registration.Key?
    /// The number of published children.
    var deviceCount = 0
    var usersWithoutDevice = 0

    init() {}

    /// Reads the value of the header ``MessageHeaderName/cursor``; nil for a text that ``text`` does not return.
    init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3 || words.count == 5 else { return nil }
        let numbers = words.prefix(3).compactMap { Int($0) }.filter { 0...Self.countMax ~= $0 }
        guard numbers.count == 3 else { return nil }
        (user, deviceCount, usersWithoutDevice) = (numbers[0], numbers[1], numbers[2])
        guard words.count == 5 else { return }
        guard let token = UUIDValue(words[3]), let slot = UUIDValue(words[4]) else { return nil }
        key = Registration.Key(token: token, slot: slot)
    }

    /// The value of the header: at most 100 characters.
    var text: String {
        let counts = "\(user) \(deviceCount) \(usersWithoutDevice)"
        return key.map { "\(counts) \($0.token) \($0.slot)" } ?? counts
    }
}

extension FanoutCursor {
    /// Reads the cursor of a delivery. A request starts over if it has no cursor, or if an operator corrected its body.
    /// The cursor affects no other request, so it needs no trust.
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
