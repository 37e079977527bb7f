import Hashing

/// What a returned message is known by: hashes, so that of a message which waits for its confirm nothing has to be kept.
package struct MessageFingerprint: Equatable {
    private static let mixer = SecretMixer()

    /// Of all that the broker returns for certain as it was sent.
    private let identity: UInt64
    /// Of the rest.
    private let content: UInt64

    package init(
        exchange: String, routingKey: String, messageID: String, headers: FieldTable = FieldTable(),
        body: ArraySlice<UInt8> = []
    ) {
        let mixer = Self.mixer
        identity = mixer.hash(messageID, after: mixer.hash(routingKey, after: mixer.hash(exchange, after: 0)))
        let start = headers.isEmpty ? 0 : UInt64(bitPattern: Int64(headers.asWritten.hashValue))
        content = body.withUnsafeBytes { mixer.hash($0, after: start) }
    }

    func isAlike(_ other: MessageFingerprint) -> Bool { identity == other.identity }
}

extension FieldTable {
    /// As a peer reads it again.
    fileprivate var asWritten: FieldTable { FieldTable(entries.map { Entry($0.name, $0.value.asWritten) }) }
}

extension FieldValue {
    fileprivate var asWritten: FieldValue {
        switch self {
        case .unreadable: .void
        case .table(let table): .table(table.asWritten)
        case .array(let values): .array(values.map(\.asWritten))
        case .boolean, .integer, .string, .bytes, .timestamp, .double, .decimal, .void: self
        }
    }
}

extension SecretMixer {
    fileprivate func hash(_ text: String, after start: UInt64) -> UInt64 {
        text.utf8.withContiguousStorageIfAvailable { hash(UnsafeRawBufferPointer($0), after: start) }
            ?? Array(text.utf8).withUnsafeBytes { hash($0, after: start) }
    }
}
