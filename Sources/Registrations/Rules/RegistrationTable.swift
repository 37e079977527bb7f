import Crypto

/// The rows and marks of a batch while its commands are applied.
struct RegistrationTable {
    private let stored: [Registration.Key: Registration]
    private let storedMarks: [UUIDValue: EndMark]
    private var rows: [Registration.Key: Registration]
    private var marks: [UUIDValue: EndMark]
    /// The keys of the rows that have a token, device or user, or had it earlier in the batch.
    private var byToken: [UUIDValue: [Registration.Key]] = [:]
    private var byDevice: [UUIDValue: [Registration.Key]] = [:]
    private var byUser: [UUIDValue: [Registration.Key]] = [:]

    init(rows: some Sequence<Registration>, marks: some Sequence<EndMark>) {
        stored = Dictionary(rows.map { ($0.key, $0) }) { first, _ in first }
        storedMarks = Dictionary(marks.map { ($0.key, $0) }) { $0.merged(with: $1) }
        (self.rows, self.marks) = (stored, storedMarks)
        for row in stored.values { index(row, replacing: nil) }
    }

    subscript(key: Registration.Key) -> Registration? { rows[key] }

    /// Returns all rows of a token in the order of their slots.
    func rows(ofToken token: UUIDValue) -> [Registration] { sorted(byToken[token]) { $0.key.token == token } }

    /// Returns the rows of an installation in the order of their keys, tombstones included.
    func rows(ofDevice device: UUIDValue) -> [Registration] { sorted(byDevice[device]) { $0.deviceKey == device } }

    /// Returns the live rows of a user in the order of their keys.
    func rows(ofUser user: UUIDValue) -> [Registration] { sorted(byUser[user]) { $0.details?.userKey == user } }

    /// All live rows in the order of their keys.
    var liveRows: [Registration] { rows.values.filter { $0.details != nil }.sorted { $0.key < $1.key } }

    private func sorted(
        _ keys: [Registration.Key]?, where isWanted: (Registration) -> Bool
    ) -> [Registration] {
        guard let keys else { return [] }
        let found = keys.compactMap { rows[$0] }.filter(isWanted)
        return found.count < 2 ? found : found.sorted { $0.key < $1.key }
    }

    mutating func set(_ row: Registration) {
        let previous = rows.updateValue(row, forKey: row.key)
        index(row, replacing: previous)
    }

    /// Makes the row a tombstone that ends registrations at or before `at`.
    mutating func end(_ row: Registration, at: Int64) {
        var row = row
        row.state = .ended(at: at)
        rows[row.key] = row
    }

    private mutating func index(_ row: Registration, replacing previous: Registration?) {
        if previous == nil { Self.insert(row.key, into: &byToken[row.key.token, default: []]) }
        if let device = row.deviceKey, device != previous?.deviceKey {
            Self.insert(row.key, into: &byDevice[device, default: []])
        }
        if let user = row.details?.userKey, user != previous?.details?.userKey {
            Self.insert(row.key, into: &byUser[user, default: []])
        }
    }

    private static func insert(_ key: Registration.Key, into keys: inout [Registration.Key]) {
        if !keys.contains(key) { keys.append(key) }
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
