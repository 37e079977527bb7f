extension FieldTable {
    /// The size of the table on the wire in bytes, including its length prefix.
    var wireBytes: Int { entries.reduce(4) { $0 + $1.wireBytes } }
}

extension FieldTable.Entry {
    /// The size of the entry on the wire in bytes: name, type and value.
    package var wireBytes: Int { 1 + name.utf8.count + 1 + value.contentBytes }
}

extension FieldValue {
    /// The encoded size of the value in bytes, without its type.
    fileprivate var contentBytes: Int {
        switch self {
        case .void, .unreadable: 0
        case .boolean: 1
        case .decimal: 5
        case .integer, .timestamp, .double: 8
        case .string(let text): 4 + text.utf8.count
        case .bytes(let bytes): 4 + bytes.count
        case .table(let table): table.wireBytes
        case .array(let values): values.reduce(4) { $0 + 1 + $1.contentBytes }
        }
    }
}
