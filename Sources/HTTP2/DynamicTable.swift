/// The encoder's copy of the peer's dynamic table (RFC 7541, 2.3.2). Lookups include ``StaticHeaderField``.
struct DynamicTable {
    /// Size of an entry in addition to its name and value (RFC 7541, 4.1).
    static let entryOverhead = 32
    /// Initial table size of a decoder (RFC 9113, 6.5.2).
    static let bytesDefault = 4096

    private struct Entry {
        /// Offset of the name. The value follows the name.
        var start: Int
        var nameCount: Int
        var valueCount: Int

        var bytes: Int { nameCount + valueCount + DynamicTable.entryOverhead }

        func name(in text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: text[start..<start + nameCount])
        }

        func value(in text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(rebasing: text[start + nameCount..<start + nameCount + valueCount])
        }
    }

    /// The index of the newest entry (RFC 7541, 2.3.3).
    private static let entriesStart = 62

    private(set) var bytesMax = bytesDefault
    private var bytes = 0
    /// Entries, oldest first.
    private var entries: [Entry] = []
    /// Text of the entries. Text of evicted entries may precede this text.
    private var text: [UInt8] = []

    /// Returns the index of an entry with this name and value; nil if no entry matches.
    func index(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name, value)
            ?? entryIndex { entry, text in
                guard entry.nameCount == name.count, entry.valueCount == value.count else { return false }
                return value.isSame(as: entry.value(in: text)) && name.isSame(as: entry.name(in: text))
            }
    }

    /// Returns the index of an entry with this name; nil if no entry matches.
    func index(of name: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name) ?? entryIndex { entry, text in name.isSame(as: entry.name(in: text)) }
    }

    /// Searches the dynamic entries from the newest to the oldest.
    private func entryIndex(_ matches: (Entry, UnsafeRawBufferPointer) -> Bool) -> Int? {
        text.withUnsafeBytes { text in
            entries.withUnsafeBufferPointer { entries in
                for age in 0..<entries.count where matches(entries[entries.count - 1 - age], text) {
                    return Self.entriesStart + age
                }
                return nil
            }
        }
    }

    /// Returns whether a field may be inserted. A field that fills more than three quarters of the table would evict
    /// most of the other fields.
    func hasRoom(for name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        (name.count + value.count + Self.entryOverhead) * 4 <= bytesMax * 3
    }

    mutating func insert(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let entry = Entry(start: text.count, nameCount: name.count, valueCount: value.count)
        assert(entry.bytes <= bytesMax, "call hasRoom before insert")
        evict(to: bytesMax - entry.bytes)
        bytes += entry.bytes
        entries.append(entry)
        text += name
        text += value
        if text.count > 2 * Self.bytesDefault { compactText() }
    }

    mutating func resize(_ bytesMax: Int) {
        self.bytesMax = bytesMax
        evict(to: bytesMax)
    }

    private mutating func evict(to bytesMax: Int) {
        var evicted = 0
        while bytes > bytesMax {
            bytes -= entries[evicted].bytes
            evicted += 1
        }
        entries.removeFirst(evicted)
    }

    private mutating func compactText() {
        let start = entries[0].start
        text.removeFirst(start)
        for index in entries.indices { entries[index].start -= start }
    }
}
