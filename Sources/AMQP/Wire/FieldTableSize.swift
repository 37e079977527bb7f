extension FieldTable {
    /// Bytes of the table on the wire, its length in front included.
    var wireBytes: Int { entries.reduce(4) { $0 + $1.wireBytes } }
}

extension FieldTable.Entry {
    /// Bytes of the entry on the wire: a name, a type, and the value.
    package var wireBytes: Int { 1 + name.utf8.count + 1 + value.contentBytes }
}

extension FieldValue {
    /// Bytes of the value as it is written, without its type.
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
