import Crypto

extension Registration.Key {
    private static let separator: Character = ":"

    /// Parses the text of a key. Returns nil for an invalid text.
    package init?(_ text: String) {
        let parts = text.split(separator: Self.separator, maxSplits: 1, omittingEmptySubsequences: false)
        guard let token = parts.first.flatMap({ UUIDValue($0) }) else { return nil }
        guard parts.count == 2 else {
            self.init(token: token)
            return
        }
        guard let slot = UUIDValue(parts[1]) else { return nil }
        self.init(token: token, slot: slot)
    }

    /// The key as text for operators. It reveals neither token nor user.
    package var text: String {
        slot == Self.unshared ? token.description : "\(token)\(Self.separator)\(slot)"
    }
}
