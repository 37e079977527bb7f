import EventLoop

/// What a session keeps of each open stream, in slots that are used again: no allocation a stream once the table has
/// grown to the number that are open at once.
struct StreamTable {
    struct Entry {
        /// 0 in a free slot.
        var id: Int32 = 0
        /// The body to send, shared with whoever gave it, and what of it is still to be sent.
        var body: [UInt8] = []
        var bodyRest = 0..<0
        /// Output position behind the request's header block, once that was made.
        var headersEnd: UInt64?
        /// Bytes that came, against the limits.
        var headerBytes = 0
        var bodyBytes = 0
        var hasResponse = false
        var hasEnded = false
        /// By the peer, or on purpose; not because the peer broke the rules.
        var wasReset = false
        /// When a server's stream began.
        var began = MonotonicTime(nanoseconds: 0)
    }

    private(set) var entries: [Entry] = []
    private var free: [Int] = []

    /// Streams that are open.
    var count: Int { entries.count - free.count }

    mutating func add(id: Int32, body: [UInt8] = [], range: Range<Int> = 0..<0) -> HTTP2Stream {
        let entry = Entry(id: id, body: body, bodyRest: range)
        if let slot = free.popLast() {
            entries[slot] = entry
            return HTTP2Stream(slot: slot, id: id)
        }
        entries.append(entry)
        return HTTP2Stream(slot: entries.count - 1, id: id)
    }

    /// Takes the stream out; nil when it has gone already.
    mutating func remove(_ stream: HTTP2Stream) -> Entry? {
        guard contains(stream) else { return nil }
        // Swapped, so that no reference is counted.
        var entry = Entry()
        swap(&entry, &entries[stream.slot])
        free.append(stream.slot)
        return entry
    }

    func contains(_ stream: HTTP2Stream) -> Bool {
        entries.indices.contains(stream.slot) && entries[stream.slot].id == stream.id
    }

    /// The stream in a slot; nil when it is free.
    func stream(slot: Int) -> HTTP2Stream? {
        guard entries.indices.contains(slot), entries[slot].id != 0 else { return nil }
        return HTTP2Stream(slot: slot, id: entries[slot].id)
    }

    /// Works on a stream's entry; the stream must be in the table.
    subscript(_ stream: HTTP2Stream) -> Entry {
        _read { yield entries[stream.slot] }
        _modify { yield &entries[stream.slot] }
    }

    /// Writes the next part of a stream's body; nil when the stream is not there.
    mutating func readBody(slot: Int, into space: UnsafeMutableRawBufferPointer) -> (count: Int, isEnd: Bool)? {
        guard let stream = stream(slot: slot) else { return nil }
        let rest = self[stream].bodyRest
        let count = min(rest.count, space.count)
        self[stream].body.withUnsafeBytes {
            space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[rest.lowerBound..<(rest.lowerBound + count)]))
        }
        self[stream].bodyRest = (rest.lowerBound + count)..<rest.upperBound
        return (count, count == rest.count)
    }
}
