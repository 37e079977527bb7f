import Crypto
import Registrations

/// The rows and marks that the earlier parts of a transaction have written.
struct PostgresBatchChanges {
    private var rows: StoredRegistrations = [:]
    private var marks: [UUIDValue: EndMark] = [:]

    /// Inserts the rows and marks of a part.
    ///
    /// - Parameter written: The rows of the change, in its order.
    mutating func insert(_ change: RegistrationRules.Change, _ written: [StoredRow]) {
        for (registration, row) in zip(change.rows, written) { rows[row.key] = (row, registration) }
        for mark in change.marks { marks[mark.key] = mark }
    }

    /// Gives a later part the rows and marks that it would have read after the writes.
    func replaceOutdatedValues(of part: PostgresBatchPart) {
        for (key, written) in rows {
            part.stored[key] = part.touched.contain(written.registration) ? written : nil
        }
        let changed = marks.values.filter { part.touched.marks.contains($0.key) }
        guard !changed.isEmpty else { return }
        part.marks = part.marks.filter { marks[$0.key] == nil } + changed
    }
}
