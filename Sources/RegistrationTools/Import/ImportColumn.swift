import Text

/// A column of a CSV file. Its name is also that of a member of the `register` command.
enum ImportColumn: String, CaseIterable, Sendable {
    case app
    case environment
    case kind
    case scope
    case user
    case deviceToken = "device_token"
    case deviceID = "device_id"
    case platform
    case registeredAt = "registered_at"
    case expiresAt = "expires_at"
    case shared

    private static let required: [ImportColumn] = [.app, .user, .deviceToken]

    /// Returns the columns of a header line.
    ///
    /// - Parameter hasDefaultTime: Whether `registered_at` has a default.
    /// - Throws: ``ImportError``. The error does not quote the header, because the first line of a file without a
    ///   header contains tokens and users.
    static func columns(of header: [UInt8], hasDefaultTime: Bool) throws(ImportError) -> [ImportColumn] {
        let names: [String]
        do throws(CSVLine.Mistake) {
            names = try CSVLine.fields(of: header)
        } catch {
            throw ImportError("cannot read the header: \(error.sentence)")
        }
        var columns: [ImportColumn] = []
        for (index, name) in names.enumerated() {
            guard let column = ImportColumn(rawValue: name) else {
                let known = allCases.map(\.rawValue)
                throw ImportError(
                    "cannot read the header: column \(index + 1) is none of "
                        + known.joined(separator: ", ") + Suggestion.hint(for: name, among: known))
            }
            guard !columns.contains(column) else {
                throw ImportError("cannot read the header: two columns are \(name)")
            }
            columns.append(column)
        }
        for column in required where !columns.contains(column) {
            throw ImportError("cannot read the header: column \(column.rawValue) is missing")
        }
        guard hasDefaultTime || columns.contains(.registeredAt) else {
            throw ImportError(
                "cannot read the header: column registered_at is missing; add the time of each registration, or pass "
                    + "--registered-at TIME with a time before all registrations")
        }
        return columns
    }
}
