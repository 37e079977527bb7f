/// An end in a store. It contains hashes instead of tokens and users, so only a store with the same index key can
/// restore it.
public enum StoredEnd: Sendable, Hashable {
    /// A row whose state is `ended`.
    case tombstone(Registration)
    case mark(EndMark)

    /// The bundle ID; nil for a mark.
    public var app: String? {
        switch self {
        case .tombstone(let row): row.app
        case .mark: nil
        }
    }
}
