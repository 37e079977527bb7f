package import Crypto

/// The device or request by which rows are found or erased.
package enum HistorySubject: Sendable, Hashable {
    case id(UUIDValue)
    case token(String)
    /// A user, or the user of all devices.
    case user(String)
}
