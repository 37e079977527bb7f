package import Crypto

/// The device, user or request whose rows are erased.
package enum HistorySubject: Sendable, Hashable {
    case id(UUIDValue)
    case token(String)
    /// A user, whose rows include pushes to the user's devices.
    case user(String)
}
