extension FieldTable {
    /// The nesting limit of tables and arrays. Deeper values are read as `unreadable`. The limit bounds the stack,
    /// because a peer can nest more than 200,000 levels in one frame of 1 MiB.
    static let depthMax = 8

    /// Reads a table from `content`, which does not include the table's length prefix. Returns nil if the bytes are not
    /// a table.
    package init?(content: UnsafeRawBufferPointer) {
        self.init(content: content, depth: 1)
    }

    fileprivate init?(content: UnsafeRawBufferPointer, depth: Int) {
        self.init()
        var reader = WireReader(content)
        while !reader.isAtEnd {
            guard let name = reader.shortString(), let value = FieldValue(from: &reader, depth: depth) else {
                return nil
            }
            append(String(wire: name), value)
        }
    }

    /// Returns one value of the table's first level without decoding the other values. Returns nil if the name is
    /// missing, or if its value or an earlier entry cannot be decoded.
    static func value(named name: String, content: UnsafeRawBufferPointer) -> FieldValue? {
        var reader = WireReader(content)
        while let key = reader.shortString() {
            if name.utf8.count == key.count, name.utf8.elementsEqual(key) { return FieldValue(from: &reader, depth: 1) }
            guard FieldValue.skip(&reader) else { return nil }
        }
        return nil
    }

    /// Returns the sum of the hashes of all first-level entries whose names do not begin with `x-`. Brokers change
    /// some of the other entries. The sum ends before the first entry that cannot be decoded.
    static func publishersSum(
        content: UnsafeRawBufferPointer, _ hash: (UnsafeRawBufferPointer) -> UInt64
    ) -> UInt64 {
        var reader = WireReader(content)
        var sum: UInt64 = 0
        while true {
            let before = reader.rest
            guard let key = reader.shortString(), FieldValue.skip(&reader) else { return sum }
            if key.count > 1, key[0] == UInt8(ascii: "x"), key[1] == UInt8(ascii: "-") { continue }
            sum &+= hash(UnsafeRawBufferPointer(rebasing: before.prefix(before.count - reader.rest.count)))
        }
    }
}

extension FieldValue {
    /// Reads a value. Returns nil if the value is truncated or its type is unknown.
    fileprivate init?(from reader: inout WireReader, depth: Int) {
        guard let type = reader.octet(), let content = Self.content(of: type, &reader) else { return nil }
        var inner = WireReader(content)
        switch UnicodeScalar(type) {
        case "t": self = .boolean(inner.octet() != 0)
        case "b": self = .integer(Int64(Int8(bitPattern: inner.octet() ?? 0)))
        case "B": self = .integer(Int64(inner.octet() ?? 0))
        case "s": self = .integer(Int64(Int16(bitPattern: inner.short() ?? 0)))
        case "u": self = .integer(Int64(inner.short() ?? 0))
        case "I": self = .integer(Int64(Int32(bitPattern: inner.long() ?? 0)))
        case "i": self = .integer(Int64(inner.long() ?? 0))
        // RabbitMQ also reads L as signed.
        case "l", "L": self = .integer(Int64(bitPattern: inner.longLong() ?? 0))
        case "f": self = .double(Double(Float(bitPattern: inner.long() ?? 0)))
        case "d": self = .double(Double(bitPattern: inner.longLong() ?? 0))
        case "D": self = .decimal(scale: inner.octet() ?? 0, value: inner.long() ?? 0)
        case "S": self = .string(String(wire: content))
        case "x": self = .bytes([UInt8](content))
        case "T": self = .timestamp(seconds: inner.longLong() ?? 0)
        case "V": self = .void
        case "F":
            guard depth < FieldTable.depthMax else {
                self = .unreadable
                return
            }
            self = FieldTable(content: content, depth: depth + 1).map(FieldValue.table) ?? .unreadable
        case "A":
            guard depth < FieldTable.depthMax else {
                self = .unreadable
                return
            }
            self = Self.array(content, depth: depth + 1)
        default: self = .unreadable
        }
    }

    private static func array(_ content: UnsafeRawBufferPointer, depth: Int) -> FieldValue {
        var values: [FieldValue] = []
        var reader = WireReader(content)
        while !reader.isAtEnd {
            guard let value = FieldValue(from: &reader, depth: depth) else { return .unreadable }
            values.append(value)
        }
        return .array(values)
    }

    /// Skips one value. Returns false if the value is truncated or its type is unknown.
    package static func skip(_ reader: inout WireReader) -> Bool {
        guard let type = reader.octet() else { return false }
        return content(of: type, &reader) != nil
    }

    /// Returns the bytes of a value of `type`, without the length prefix of strings, tables and arrays. Returns nil if
    /// the value is truncated or its type is unknown.
    private static func content(of type: UInt8, _ reader: inout WireReader) -> UnsafeRawBufferPointer? {
        switch UnicodeScalar(type) {
        case "V": reader.bytes(0)
        case "t", "b", "B": reader.bytes(1)
        case "s", "u": reader.bytes(2)
        case "I", "i", "f": reader.bytes(4)
        case "D": reader.bytes(5)
        case "l", "L", "d", "T": reader.bytes(8)
        case "S", "x", "A", "F": reader.longString()
        default: nil
        }
    }
}
