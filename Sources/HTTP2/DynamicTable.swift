/// The header fields that a peer's decoder remembers, as the encoder has to know them (RFC 7541, 2.3), behind those that
/// every decoder knows.
struct DynamicTable {
    /// Bytes that a field takes beside its name and value (RFC 7541, 4.1).
    static let entryOverhead = 32
    /// What a decoder has room for until it says otherwise (RFC 9113, 6.5.2).
    static let bytesDefault = 4096

    private struct Entry {
        /// Of its name, behind which its value follows.
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

    /// The first index of an entry (RFC 7541, 2.3.3); the newest has it.
    private static let entriesStart = 62

    /// Bytes that it may hold.
    private(set) var bytesMax = bytesDefault
    private var bytes = 0
    /// The oldest first.
    private var entries: [Entry] = []
    /// Their text, behind that of evicted ones.
    private var text: [UInt8] = []

    /// The index of a field that is there as a whole; nil when it is not.
    func index(of name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name, value)
            ?? entryIndex { entry, text in
                guard entry.nameCount == name.count, entry.valueCount == value.count else { return false }
                return value.isSame(as: entry.value(in: text)) && name.isSame(as: entry.name(in: text))
            }
    }

    /// The index of some field with that name; nil when there is none.
    func index(of name: UnsafeRawBufferPointer) -> Int? {
        StaticHeaderField.index(of: name) ?? entryIndex { entry, text in name.isSame(as: entry.name(in: text)) }
    }

    /// The newest is looked at first.
    private func entryIndex(_ isIt: (Entry, UnsafeRawBufferPointer) -> Bool) -> Int? {
        text.withUnsafeBytes { text in
            entries.withUnsafeBufferPointer { entries in
                for age in 0..<entries.count where isIt(entries[entries.count - 1 - age], text) {
                    return Self.entriesStart + age
                }
                return nil
            }
        }
    }

    /// Whether a field may be inserted: one that takes most of the table would only push out all others.
    func hasRoom(for name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        (name.count + value.count + Self.entryOverhead) * 4 <= bytesMax * 3
    }

    mutating func insert(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let entry = Entry(start: text.count, nameCount: name.count, valueCount: value.count)
        assert(entry.bytes <= bytesMax, "ask hasRoom first")
        evict(to: bytesMax - entry.bytes)
        bytes += entry.bytes
        entries.append(entry)
        text += name
        text += value
        if text.count > 2 * Self.bytesDefault { forgetText() }
    }

    mutating func resize(_ bytesMax: Int) {
        self.bytesMax = bytesMax
        evict(to: bytesMax)
    }

    /// The oldest go first.
    private mutating func evict(to bytesMax: Int) {
        var gone = 0
        while bytes > bytesMax {
            bytes -= entries[gone].bytes
            gone += 1
        }
        entries.removeFirst(gone)
    }

    private mutating func forgetText() {
        let start = entries[0].start
        text.removeFirst(start)
        for place in entries.indices { entries[place].start -= start }
    }
}
