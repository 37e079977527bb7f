import Crypto

/// The rows and marks of a batch while its commands are applied.
struct RegistrationTable {
    private let stored: [Registration.Key: Registration]
    private let storedMarks: [UUIDValue: EndMark]
    private var rows: [Registration.Key: Registration]
    private var marks: [UUIDValue: EndMark]
    /// The keys of the rows of each token, the rows of each installation, and the live rows of each user.
    private var byToken: [UUIDValue: Set<Registration.Key>] = [:]
    private var byDevice: [UUIDValue: Set<Registration.Key>] = [:]
    private var byUser: [UUIDValue: Set<Registration.Key>] = [:]

    init(rows: some Sequence<Registration>, marks: some Sequence<EndMark>) {
        stored = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        storedMarks = Dictionary(marks.map { ($0.key, $0) }) { $0.merged(with: $1) }
        (self.rows, self.marks) = (stored, storedMarks)
        for row in stored.values { index(row, replacing: nil) }
    }

    subscript(key: Registration.Key) -> Registration? { rows[key] }

    func rowCount(ofToken token: UUIDValue) -> Int { byToken[token]?.count ?? 0 }

    func rowCount(ofDevice device: UUIDValue) -> Int { byDevice[device]?.count ?? 0 }

    func rowCount(ofUser user: UUIDValue) -> Int { byUser[user]?.count ?? 0 }

    /// Returns all rows of a token in the order of their slots.
    func rows(ofToken token: UUIDValue) -> [Registration] { sorted(byToken[token]) }

    /// Returns the rows of an installation in the order of their keys, tombstones included.
    ///
    /// - Parameter token: A token whose rows are excluded; nil for none.
    func rows(ofDevice device: UUIDValue, except token: UUIDValue? = nil) -> [Registration] {
        sorted(byDevice[device]?.filter { $0.token != token })
    }

    /// Returns the live rows of a user in the order of their keys.
    func rows(ofUser user: UUIDValue) -> [Registration] { sorted(byUser[user]) }

    /// All live rows in the order of their keys.
    var liveRows: [Registration] { rows.values.filter { $0.details != nil }.sorted { $0.key < $1.key } }

    private func sorted(_ keys: Set<Registration.Key>?) -> [Registration] {
        keys.map { $0.sorted().compactMap { rows[$0] } } ?? []
    }

    mutating func set(_ row: Registration) {
        index(row, replacing: rows.updateValue(row, forKey: row.key))
    }

    /// Makes the row a tombstone that ends registrations at or before `at`.
    mutating func end(_ row: Registration, at: Int64) {
        var row = row
        row.state = .ended(at: at)
        set(row)
    }

    private mutating func index(_ row: Registration, replacing previous: Registration?) {
        if previous == nil { byToken[row.key.token, default: []].insert(row.key) }
        Self.move(row.key, from: previous?.deviceKey, to: row.deviceKey, in: &byDevice)
        Self.move(row.key, from: previous?.details?.userKey, to: row.details?.userKey, in: &byUser)
    }

    private static func move(
        _ key: Registration.Key, from old: UUIDValue?, to new: UUIDValue?,
        in index: inout [UUIDValue: Set<Registration.Key>]
    ) {
        guard old != new else { return }
        if let old { index[old]?.remove(key) }
        if let new { index[new, default: []].insert(key) }
    }

    /// Returns the latest time of the marks with these keys; nil if there is none.
    func end(ofMarks keys: [UUIDValue]) -> Int64? { keys.compactMap { marks[$0]?.at }.max() }

    /// Adds the mark. Returns false if an earlier mark already has its effect.
    mutating func insert(_ mark: EndMark) -> Bool {
        let merged = marks[mark.key]?.merged(with: mark) ?? mark
        return marks.updateValue(merged, forKey: mark.key) != merged
    }

    /// The rows that differ from the store, in the order of their keys.
    var changedRows: [Registration] {
        rows.values.filter { stored[$0.key] != $0 }.sorted { $0.key < $1.key }
    }

    /// The marks that differ from the store, in the order of their keys.
    var changedMarks: [EndMark] {
        marks.values.filter { storedMarks[$0.key] != $0 }.sorted { $0.key < $1.key }
    }
}
