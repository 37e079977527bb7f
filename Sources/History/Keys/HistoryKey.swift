import Crypto

/// The keyed hash of a token, user or id. Rows contain the first half for their token and user. Tombstones contain both
/// halves.
struct HistoryKey: Sendable, Hashable {
    let value: UUIDValue

    /// The number in the columns of rows.
    var column: Int64 { Int64(bitPattern: value.high) }
}
