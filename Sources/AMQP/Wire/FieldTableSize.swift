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
        case .integer, .timestamp, .double: 8
        case .string(let text): 4 + text.utf8.count
        case .bytes(let bytes): 4 + bytes.count
        case .table(let table): 4 + table.entries.reduce(0) { $0 + $1.wireBytes }
        case .array(let values): 4 + values.reduce(0) { $0 + 1 + $1.contentBytes }
        }
    }
}
