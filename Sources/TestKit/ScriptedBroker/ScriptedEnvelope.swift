import AMQP

/// A property list in its original encoding. Headers can be set without decoding the other properties.
struct ScriptedEnvelope: Sendable {
    private static let headersFlag: UInt16 = 1 << 13
    private static let expirationFlag: UInt16 = 1 << 8

    private(set) var propertyList: [UInt8]

    /// Sets headers. Replaces existing headers with these names, and appends the others.
    mutating func setHeaders(_ headers: [(name: String, value: FieldValue)]) {
        propertyList = propertyList.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            let flags = reader.short() ?? 0
            let beforeHeaders = reader.passed { reader in
                for bit in [UInt16(15), 14] where flags & (1 << bit) != 0 { _ = reader.shortString() }
            }
            let content = flags & Self.headersFlag == 0 ? nil : reader.longString()
            var writer = WireWriter()
            writer.short(flags | Self.headersFlag)
            writer.raw(beforeHeaders)
            writer.longString(Self.content(content, with: headers))
            writer.raw(reader.rest)
            return writer.bytes
        }
    }

    /// Removes the expiration. Otherwise the dead-lettered message would expire again.
    mutating func removeExpiration() {
        propertyList = propertyList.withUnsafeBytes { bytes in
            var reader = WireReader(bytes)
            let flags = reader.short() ?? 0
            guard flags & Self.expirationFlag != 0 else { return Array(bytes) }
            let before = reader.passed { reader in
                for bit in [UInt16(15), 14] where flags & (1 << bit) != 0 { _ = reader.shortString() }
                if flags & Self.headersFlag != 0 { _ = reader.longString() }
                for bit in [UInt16(12), 11] where flags & (1 << bit) != 0 { _ = reader.octet() }
                for bit in [UInt16(10), 9] where flags & (1 << bit) != 0 { _ = reader.shortString() }
            }
            _ = reader.shortString()
            var writer = WireWriter()
            writer.short(flags & ~Self.expirationFlag)
            writer.raw(before)
            writer.raw(reader.rest)
            return writer.bytes
        }
    }

    /// Returns the encoded headers table after setting headers. Omits an unreadable entry and all entries after it.
    private static func content(
        _ content: UnsafeRawBufferPointer?, with headers: [(name: String, value: FieldValue)]
    ) -> [UInt8] {
        var (writer, left) = (WireWriter(), headers)
        var reader = WireReader(content ?? UnsafeRawBufferPointer(start: nil, count: 0))
        while true {
            var name: UnsafeRawBufferPointer?
            var isWhole = false
            let entry = reader.passed { reader in
                name = reader.shortString()
                isWhole = name != nil && FieldValue.skip(&reader)
            }
            guard let name, isWhole else { break }
            if let index = left.firstIndex(where: { $0.name.utf8.elementsEqual(name) }) {
                let header = left.remove(at: index)
                writer.entry(header.name, header.value)
            } else {
                writer.raw(entry)
            }
        }
        for header in left { writer.entry(header.name, header.value) }
        return writer.bytes
    }
}

extension WireReader {
    /// Returns the bytes that `read` consumes.
    fileprivate mutating func passed(_ read: (inout WireReader) -> Void) -> UnsafeRawBufferPointer {
        let before = rest
        read(&self)
        return UnsafeRawBufferPointer(rebasing: before.prefix(before.count - rest.count))
    }
}
