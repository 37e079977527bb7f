public import Crypto

/// One row of the table `ended`: registrations at or before a time have no effect, also those that arrive later.
public struct EndMark: Sendable, Hashable {
    /// The keyed hash of a user, of app and user, or of app, user and installation.
    public let key: UUIDValue
    /// UNIX milliseconds.
    public var at: Int64
    /// Whether the store keeps the mark for good. An import has no maximum age, so that it could otherwise restore the
    /// registrations of an erased user.
    public var isPermanent: Bool

    public init(key: UUIDValue, at: Int64, isPermanent: Bool = false) {
        (self.key, self.at, self.isPermanent) = (key, at, isPermanent)
    }

    /// Returns the mark that has the effect of both marks of one key.
    func merged(with other: EndMark) -> EndMark {
        EndMark(key: key, at: max(at, other.at), isPermanent: isPermanent || other.isPermanent)
    }
}
