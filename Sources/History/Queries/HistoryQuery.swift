package import Crypto

/// The rows that a page contains.
package enum HistoryQuery: Sendable, Hashable {
    case newest
    case id(UUIDValue)
    /// A whole token, or its first ``tokenDigitsMin`` digits or more.
    case token(String)
    case user(String)
    /// Failures and waits with a code, in one app or all apps.
    case code(String, app: String?)

    /// Minimum number of digits of a search by token.
    package static let tokenDigitsMin = 4
}
