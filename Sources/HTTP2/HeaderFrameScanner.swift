/// A scanner that determines the representations of a client's header fields, which nghttp2 reports incompletely. The
/// scanner finds the header blocks in the incoming frames (RFC 9113, 4.1, 6.2, 6.10), and stores the representations
/// until nghttp2 reports the fields.
///
/// For each part of the input, call ``scan(_:)`` before nghttp2 parses the part, ``blockBegan(streamID:)`` and
/// ``next()`` from nghttp2's callbacks, and ``pieceEnded()`` afterward. Blocks that nghttp2 ignores are skipped by
/// stream ID.
struct HeaderFrameScanner {
    /// Maximum number of stored representations per block. The representations of further fields are unknown.
    static let fieldsPerBlockMax = 1024
    /// Maximum number of representations whose memory is retained between parts of the input.
    private static let fieldsKeptMax = 4096
    private static let prefaceBytes = 24
    private static let frameHeaderBytes = 9

    private enum State {
        /// The client's preface, a frame without a header block, or padding.
        case skipping
        case frameHeader
        /// Padding length and priority, which precede the fragment in a HEADERS frame.
        case framePrefix
        case fragment
        case broken
    }

    private struct Block {
        var streamID: Int32
        /// Index of the first representation.
        var start: Int
    }

    private var state = State.skipping
    /// Number of bytes that remain in the current state.
    private var left = prefaceBytes
    private var header = (high: UInt64(0), low: UInt8(0))
    private var prefix: UInt64 = 0
    private var padding = 0
    private var flags: UInt8 = 0
    private var streamID: Int32 = 0
    private var frameLength = 0

    private var block = HeaderBlockScanner()
    /// The stream of the incomplete block; nil between blocks.
    private var openBlock: Int32?

    private var blocks: [Block] = []
    private var nextBlock = 0
    private(set) var fields: [HeaderRepresentation] = []
    private var nextField = 0
    private var blockEnd = 0

    private enum FrameType { static let headers: UInt8 = 1, continuation: UInt8 = 9 }
    private enum Flag { static let endHeaders: UInt8 = 0x4, padded: UInt8 = 0x8, priority: UInt8 = 0x20 }

    mutating func scan(_ bytes: UnsafeRawBufferPointer) {
        var position = 0
        while position < bytes.count {
            switch state {
            case .broken: return
            case .frameHeader, .framePrefix:
                while left > 0, position < bytes.count {
                    readByte(bytes[position])
                    position += 1
                }
            case .skipping, .fragment:
                let count = min(left, bytes.count - position)
                if state == .fragment {
                    scanFragment(UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count)]))
                }
                position += count
                left -= count
            }
            guard left == 0 else { return }
            partEnded()
        }
    }

    private mutating func readByte(_ byte: UInt8) {
        left -= 1
        if state == .framePrefix {
            prefix = prefix << 8 | UInt64(byte)
        } else if left > 0 {
            header.high = header.high << 8 | UInt64(byte)
        } else {
            header.low = byte
        }
    }

    private mutating func partEnded() {
        switch state {
        case .skipping: begin(.frameHeader, Self.frameHeaderBytes)
        case .frameHeader: frameBegan()
        case .framePrefix: prefixEnded()
        case .fragment:
            if flags & Flag.endHeaders != 0 { openBlock = nil }
            begin(.skipping, padding)
        case .broken: break
        }
    }

    private mutating func begin(_ state: State, _ bytes: Int) {
        self.state = state
        left = bytes
    }

    private mutating func stop() {
        state = .broken
    }

    private mutating func frameBegan() {
        frameLength = Int(header.high >> 40)
        let type = UInt8(truncatingIfNeeded: header.high >> 32)
        flags = UInt8(truncatingIfNeeded: header.high >> 24)
        let id = UInt32(truncatingIfNeeded: header.high << 8) | UInt32(header.low)
        streamID = Int32(bitPattern: id & 0x7FFF_FFFF)
        padding = 0
        switch type {
        case FrameType.headers where openBlock == nil:
            openBlock = streamID
            block = HeaderBlockScanner()
            blocks.append(Block(streamID: streamID, start: fields.count))
            let prefixBytes = (flags & Flag.padded != 0 ? 1 : 0) + (flags & Flag.priority != 0 ? 5 : 0)
            guard frameLength >= prefixBytes else { return stop() }
            prefix = 0
            begin(.framePrefix, prefixBytes)
        case FrameType.continuation where openBlock == streamID: begin(.fragment, frameLength)
        // Only CONTINUATION frames may follow within a block, and they may not appear elsewhere (RFC 9113, 6.10).
        case FrameType.headers, FrameType.continuation: stop()
        default: openBlock == nil ? begin(.skipping, frameLength) : stop()
        }
    }

    private mutating func prefixEnded() {
        let priorityBytes = flags & Flag.priority != 0 ? 5 : 0
        let prefixBytes = priorityBytes + (flags & Flag.padded != 0 ? 1 : 0)
        padding = flags & Flag.padded != 0 ? Int(prefix >> UInt64(priorityBytes * 8)) : 0
        guard prefixBytes + padding <= frameLength else { return stop() }
        begin(.fragment, frameLength - prefixBytes - padding)
    }

    private mutating func scanFragment(_ bytes: UnsafeRawBufferPointer) {
        let room = (blocks.last?.start ?? 0) + Self.fieldsPerBlockMax
        block.scan(bytes) { if fields.count < room { fields.append($0) } }
    }

    /// Selects the block whose fields nghttp2 reports next.
    mutating func blockBegan(streamID: Int32) {
        while nextBlock < blocks.count {
            let candidate = blocks[nextBlock]
            nextBlock += 1
            guard candidate.streamID == streamID else { continue }
            nextField = candidate.start
            blockEnd = nextBlock < blocks.count ? blocks[nextBlock].start : .max
            return
        }
        nextField = fields.count
        blockEnd = nextField
    }

    /// Returns the representation of the next field of the block; nil if unknown.
    mutating func next() -> HeaderRepresentation? {
        guard nextField < min(blockEnd, fields.count) else { return nil }
        defer { nextField += 1 }
        return fields[nextField]
    }

    /// Discards all blocks except an incomplete block. Call this function after nghttp2 has parsed a part.
    mutating func pieceEnded() {
        guard let last = blocks.last else { return }
        guard openBlock != nil else {
            let keeps = fields.capacity <= Self.fieldsKeptMax
            blocks.removeAll(keepingCapacity: keeps)
            fields.removeAll(keepingCapacity: keeps)
            nextBlock = 0
            nextField = 0
            blockEnd = 0
            return
        }
        guard blocks.count > 1 else { return }
        fields.removeFirst(last.start)
        let began = nextBlock == blocks.count
        blocks = [Block(streamID: last.streamID, start: 0)]
        nextBlock = began ? 1 : 0
        nextField = began ? max(0, nextField - last.start) : 0
        blockEnd = began ? .max : 0
    }
}
