/// The header fields that a peer's decoder remembers, as the encoder has to know them (RFC 7541, 2.3): those of RFC 7541's
/// appendix A that requests to APNs have, and what was added since.
struct HeaderTable {
    /// Bytes that a field takes in the table beside its name and value (RFC 7541, 4.1).
    static let fieldOverhead = 32
    /// What a decoder has room for until it says otherwise (RFC 9113, 6.5.2).
    static let bytesDefault = 4096

    private struct Field {
        /// Of its name, behind which its value follows.
        var start: Int
        var nameCount: Int
        var valueCount: Int

        var bytes: Int { nameCount + valueCount + HeaderTable.fieldOverhead }

        func name(in text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: text[start..<start + nameCount])
        }

        func value(in text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: text[start + nameCount..<start + nameCount + valueCount])
        }
    }

    /// The first index of what was added (RFC 7541, 2.3.3); the newest has it.
    private static let addedStart = 62

    /// Bytes that it may hold.
    private(set) var bytesMax = bytesDefault
    private var bytes = 0
    /// The oldest first.
    private var fields: [Field] = []
    /// Their text, behind that of fields which are gone.
    private var text: [UInt8] = []

    /// The index of a field that is there as a whole; nil when it is not.
    func index(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name, value)
            ?? addedIndex { field, text in
                guard field.nameCount == name.count, field.valueCount == value.count else { return false }
                return value.isSame(as: field.value(in: text)) && name.isSame(as: field.name(in: text))
            }
    }

    /// The index of some field with that name; nil when there is none.
    func index(of name: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name) ?? addedIndex { field, text in name.isSame(as: field.name(in: text)) }
    }

    /// The newest is looked at first.
    private func addedIndex(_ isIt: (Field, UnsafeRawBufferPointer) -> Bool) -> Int? {
        text.withUnsafeBytes { text in
            fields.withUnsafeBufferPointer { fields in
                for age in 0..<fields.count where isIt(fields[fields.count - 1 - age], text) {
                    return Self.addedStart + age
                }
                return nil
            }
        }
    }

    /// Whether a field may be added: one that takes most of the table would only push out all others.
    func hasRoom(for name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        (name.count + value.count + Self.fieldOverhead) * 4 <= bytesMax * 3
    }

    mutating func add(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let field = Field(start: text.count, nameCount: name.count, valueCount: value.count)
        shrink(to: bytesMax - field.bytes)
        bytes += field.bytes
        fields.append(field)
        text += name
        text += value
        if text.count > 2 * Self.bytesDefault { forgetText() }
    }

    mutating func resize(_ bytesMax: Int) {
        self.bytesMax = bytesMax
        shrink(to: bytesMax)
    }

    /// The oldest go first.
    private mutating func shrink(to bytesMax: Int) {
        var gone = 0
        while bytes > bytesMax {
            bytes -= fields[gone].bytes
            gone += 1
        }
        fields.removeFirst(gone)
    }

    private mutating func forgetText() {
        let start = fields[0].start
        text.removeFirst(start)
        for place in fields.indices { fields[place].start -= start }
    }
}
