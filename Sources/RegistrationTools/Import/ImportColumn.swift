import Text

/// A column of a CSV file. Its name is that of a member of the `register` command.
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
    /// - Parameter hasDefaultTime: whether lines without `registered_at` have a default.
    /// - Throws: a mistake, which does not quote the header: a file without a header begins with tokens and users.
    static func columns(of header: [UInt8], hasDefaultTime: Bool) throws(ImportError) -> [ImportColumn] {
        let names: [String]
        do throws(CSVLine.Mistake) {
            names = try CSVLine.fields(of: header)
        } catch {
            throw ImportError("line 1: \(error.sentence)")
        }
        var columns: [ImportColumn] = []
        for (index, name) in names.enumerated() {
            guard let column = ImportColumn(rawValue: name) else {
                let known = allCases.map(\.rawValue)
                throw ImportError(
                    "line 1: column \(index + 1) of the header is none of \(known.joined(separator: ", "))"
                        + Suggestion.hint(for: name, among: known))
            }
            guard !columns.contains(column) else { throw ImportError("line 1: two columns are \(name)") }
            columns.append(column)
        }
        for column in required where !columns.contains(column) {
            throw ImportError("line 1: column \(column.rawValue) is missing")
        }
        guard hasDefaultTime || columns.contains(.registeredAt) else {
            throw ImportError(
                "line 1: column registered_at is missing; add the time of each registration, or pass --registered-at TIME "
                    + "with a time before all of them")
        }
        return columns
    }
}
