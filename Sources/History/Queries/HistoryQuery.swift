package import Crypto

/// The rows that a page contains.
package enum HistoryQuery: Sendable, Hashable {
    case newest
    case id(UUIDValue)
    /// The first digits of a token, as many as ``tokenDigits`` allows, or a whole token. A longer part finds nothing: it
    /// would let an operator extend a prefix digit by digit to the whole token.
    case token(String)
    case user(String)
    /// Failures and waits with a code, in one app or all apps.
    case code(String, app: String?)

    /// The possible numbers of digits of a search by the start of a token.
    package static let tokenDigits = 4...TokenPrefix.digitsMax
}
