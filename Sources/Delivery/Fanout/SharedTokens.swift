import Crypto

/// The shared tokens that have children in earlier chunks of a request to users. The cursor contains them, so that a
/// later chunk marks a second child for such a token as a possible duplicate.
///
/// Keeps 32 bits of each `token_key`. Above ``tokensMax`` tokens, every token counts as contained.
struct SharedTokens: Sendable, Hashable {
    static let tokensMax = 64
    private static let digitsOfPart = 8
    private static let overflow = "*"

    private enum State: Hashable {
        /// To: overflown.
        case exact([UInt32])
        case overflown
    }

    private var state = State.exact([])

    init() {}

    /// Reads ``text``; nil for any other text.
    init?(_ text: Substring) {
        guard text != Self.overflow else {
            state = .overflown
            return
        }
        var (parts, rest): ([UInt32], Substring) = ([], text)
        while !rest.isEmpty {
            guard rest.utf8.count >= Self.digitsOfPart, parts.count < Self.tokensMax,
                let part = UInt32(rest.prefix(Self.digitsOfPart), radix: 16)
            else { return nil }
            parts.append(part)
            rest = rest.dropFirst(Self.digitsOfPart)
        }
        state = .exact(parts)
    }

    var text: String {
        switch state {
        case .exact(let parts):
            parts.map { part in
                let digits = String(part, radix: 16)
                return String(repeating: "0", count: Self.digitsOfPart - digits.count) + digits
            }.joined()
        case .overflown: Self.overflow
        }
    }

    var isEmpty: Bool { state == .exact([]) }

    mutating func insert(_ tokenKey: UUIDValue) {
        guard case .exact(let parts) = state, !mayContain(tokenKey) else { return }
        state = parts.count < Self.tokensMax ? .exact(parts + [Self.part(tokenKey)]) : .overflown
    }

    func mayContain(_ tokenKey: UUIDValue) -> Bool {
        switch state {
        case .exact(let parts): parts.contains(Self.part(tokenKey))
        case .overflown: true
        }
    }

    private static func part(_ tokenKey: UUIDValue) -> UInt32 { UInt32(truncatingIfNeeded: tokenKey.low) }
}
