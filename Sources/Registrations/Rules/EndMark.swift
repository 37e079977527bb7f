public import Crypto

/// One row of the table `ended`: registrations at or before a time have no effect, also those that arrive later.
public struct EndMark: Sendable, Hashable {
    /// The keyed hash of a user, of app and user, or of app, user and installation.
    public let key: UUIDValue
    /// UNIX milliseconds.
    public var at: Int64

    public init(key: UUIDValue, at: Int64) {
        (self.key, self.at) = (key, at)
    }
}
