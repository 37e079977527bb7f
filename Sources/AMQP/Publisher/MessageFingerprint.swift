import Hashing

/// The hashes that identify a returned message, so that an unconfirmed message need not be kept.
package struct MessageFingerprint: Equatable {
    private static let mixer = SecretMixer()

    /// The hash of the exchange, the routing key and the message ID, which the broker returns unchanged.
    private let identity: UInt64
    /// The hash of the headers and the body.
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
    /// The table as a peer reads it.
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
