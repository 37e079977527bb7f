/// A table of named values, such as message headers or the arguments of a queue (AMQP 0-9-1, section 4.2.5.5, in
/// RabbitMQ's dialect).
///
/// A table preserves the order of its entries. If a name occurs more than once, lookups use the first entry.
public struct FieldTable: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    public struct Entry: Sendable, Hashable {
        /// The name, at most 255 bytes.
        public var name: String
        public var value: FieldValue

        public init(_ name: String, _ value: FieldValue) {
            self.name = name
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    public init(dictionaryLiteral elements: (String, FieldValue)...) {
        entries = elements.map { Entry($0.0, $0.1) }
    }

    public var isEmpty: Bool { entries.isEmpty }

    public subscript(name: String) -> FieldValue? {
        entries.first { $0.name == name }?.value
    }

    public mutating func append(_ name: String, _ value: FieldValue) {
        entries.append(Entry(name, value))
    }
}

/// A value in a `FieldTable`.
public enum FieldValue: Sendable, Hashable {
    case boolean(Bool)
    /// A signed integer. Martlet writes 64 bits, and reads every integer type.
    case integer(Int64)
    /// Text. Invalid UTF-8 is read with replacement characters.
    case string(String)
    case bytes([UInt8])
    /// A time in seconds since 1970-01-01 UTC.
    case timestamp(seconds: UInt64)
    case double(Double)
    /// The number `value` × 10^−`scale`.
    case decimal(scale: UInt8, value: UInt32)
    case table(FieldTable)
    case array([FieldValue])
    case void
    /// A table or array that a peer nested too deep, or whose content cannot be read.
    case unreadable

    public var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }
}

extension FieldValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
