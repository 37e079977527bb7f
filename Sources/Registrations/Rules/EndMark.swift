public import Crypto

/// One row of the table `ended`. Registrations to which the key applies have no effect if their time is at or before
/// `at`, even if they arrive later.
public struct EndMark: Sendable, Hashable {
    /// The keyed hash of a user, of app and user, or of app, user and installation.
    public let key: UUIDValue
    /// The time of the end in UNIX milliseconds.
    public var at: Int64
    /// Whether the store never deletes the mark. After a deletion, an import could restore the registrations of an
    /// erased user, since imported registrations have no maximum age.
    public var isPermanent: Bool

    public init(key: UUIDValue, at: Int64, isPermanent: Bool = false) {
        (self.key, self.at, self.isPermanent) = (key, at, isPermanent)
    }

    /// Returns a mark that has the effects of both marks, which have the same key.
    func merged(with other: EndMark) -> EndMark {
        EndMark(key: key, at: max(at, other.at), isPermanent: isPermanent || other.isPermanent)
    }
}
