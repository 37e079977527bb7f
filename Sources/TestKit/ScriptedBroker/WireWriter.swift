package import AMQP

/// A writer of AMQP's elementary types.
///
/// It is independent of librabbitmq, whose encoding is therefore tested against another implementation.
package struct WireWriter {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func octet(_ value: UInt8) {
        bytes.append(value)
    }

    package mutating func flag(_ value: Bool) {
        octet(value ? 1 : 0)
    }

    package mutating func short(_ value: UInt16) {
        integer(value)
    }

    package mutating func long(_ value: UInt32) {
        integer(value)
    }

    package mutating func longLong(_ value: UInt64) {
        integer(value)
    }

    package mutating func raw(_ value: some Sequence<UInt8>) {
        bytes.append(contentsOf: value)
    }

    /// Writes a short string, truncated to 255 bytes.
    package mutating func shortString(_ value: String) {
        var value = value
        value.withUTF8 { text in
            octet(UInt8(min(text.count, 255)))
            raw(text.prefix(255))
        }
    }

    package mutating func longString(_ value: some Collection<UInt8>) {
        long(UInt32(value.count))
        raw(value)
    }

    package mutating func table(_ table: FieldTable) {
        var content = WireWriter()
        for entry in table.entries { content.entry(entry.name, entry.value) }
        longString(content.bytes)
    }

    package mutating func entry(_ name: String, _ value: FieldValue) {
        shortString(name)
        self.value(value)
    }

    private mutating func value(_ value: FieldValue) {
        switch value {
        case .boolean(let boolean):
            type("t")
            flag(boolean)
        case .integer(let integer):
            type("l")
            longLong(UInt64(bitPattern: integer))
        case .string(let string):
            type("S")
            longString(Array(string.utf8))
        case .bytes(let array):
            type("x")
            longString(array)
        case .timestamp(let seconds):
            type("T")
            longLong(seconds)
        case .double(let double):
            type("d")
            longLong(double.bitPattern)
        case .decimal(let scale, let number):
            type("D")
            octet(scale)
            long(number)
        case .table(let inner):
            type("F")
            table(inner)
        case .array(let values):
            type("A")
            var content = WireWriter()
            for element in values { content.value(element) }
            longString(content.bytes)
        case .void, .unreadable:
            type("V")
        }
    }

    private mutating func type(_ scalar: Unicode.Scalar) {
        octet(UInt8(ascii: scalar))
    }

    private mutating func integer<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
