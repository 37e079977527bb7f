import EventLoop

/// The state of each open stream, in reusable slots. A stream needs no allocation once the table has grown.
struct StreamTable {
    struct Entry {
        /// The stream identifier; 0 in a free slot.
        var id: Int32 = 0
        /// The body to send, shared with the caller.
        var body: [UInt8] = []
        /// The part of `body` for which no frame was created yet.
        var bodyRest = 0..<0
        /// Output position after the request's header block; nil until the block is created.
        var headersEnd: UInt64?
        /// Size of the names and values of the received header fields. In a client, `:status` does not count.
        var headerBytes = 0
        /// Size of the received response body, counted until `HTTP2Limits.responseBodyBytesMax` is reached.
        var bodyBytes = 0
        var hasResponse = false
        var hasEnded = false
        /// Whether the peer reset the stream, or this side called ``HTTP2Session/reset(_:_:)``. False if nghttp2 reset
        /// the stream because of a protocol violation.
        var wasReset = false
        /// Start time of a server's stream.
        var began = MonotonicTime(nanoseconds: 0)
    }

    private(set) var entries: [Entry] = []
    private var free: [Int] = []

    /// Number of open streams.
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

    /// Removes a stream and returns its entry; nil if the stream was removed already.
    mutating func remove(_ stream: HTTP2Stream) -> Entry? {
        guard contains(stream) else { return nil }
        // A swap avoids reference counting.
        var entry = Entry()
        swap(&entry, &entries[stream.slot])
        free.append(stream.slot)
        return entry
    }

    func contains(_ stream: HTTP2Stream) -> Bool {
        entries.indices.contains(stream.slot) && entries[stream.slot].id == stream.id
    }

    /// Returns the stream in a slot; nil if the slot is free.
    func stream(slot: Int) -> HTTP2Stream? {
        guard entries.indices.contains(slot), entries[slot].id != 0 else { return nil }
        return HTTP2Stream(slot: slot, id: entries[slot].id)
    }

    /// The entry of a stream, which must be in the table.
    subscript(_ stream: HTTP2Stream) -> Entry {
        _read { yield entries[stream.slot] }
        _modify { yield &entries[stream.slot] }
    }

    /// Copies the next part of a stream's body into `space`. Returns nil if the slot is free.
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
