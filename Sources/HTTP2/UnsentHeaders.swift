/// The header blocks of unsent requests, in ascending order of stream IDs, in reusable storage.
struct UnsentHeaders {
    /// Maximum number of unused blocks retained when no request waits. After a burst, more blocks would not stay in
    /// the CPU cache.
    private static let blocksKeptMax = 64

    private var blocks: [(streamID: Int32, block: HeaderBlock)] = []
    /// Indices of the waiting blocks. Blocks before and after this range are unused.
    private var waiting = 0..<0

    /// Stores the block, and replaces the caller's block with an empty block.
    mutating func add(_ block: inout HeaderBlock, streamID: Int32) {
        if waiting.isEmpty { removeAll() }
        if waiting.upperBound == blocks.count { makeRoom() }
        swap(&blocks[waiting.upperBound].block, &block)
        blocks[waiting.upperBound].streamID = streamID
        waiting = waiting.lowerBound..<waiting.upperBound + 1
        block.removeAll()
    }

    /// Removes the block of a request that is being sent, and passes the block to `body`. Earlier blocks belong to
    /// requests that were reset unsent, and are discarded.
    mutating func consume(streamID: Int32, _ body: (HeaderBlock) -> Void) {
        while let next = waiting.first, blocks[next].streamID <= streamID {
            waiting = waiting.dropFirst()
            if blocks[next].streamID == streamID { return body(blocks[next].block) }
        }
        preconditionFailure("the stream has no stored header block")
    }

    /// Discards the waiting blocks. Keeps the storage of at most `blocksKeptMax` blocks.
    mutating func removeAll() {
        waiting = 0..<0
        if blocks.count > Self.blocksKeptMax { blocks.removeLast(blocks.count - Self.blocksKeptMax) }
    }

    private mutating func makeRoom() {
        guard waiting.lowerBound > waiting.count else { return blocks.append((0, HeaderBlock())) }
        for place in waiting { blocks.swapAt(place, place - waiting.lowerBound) }
        waiting = 0..<waiting.count
    }
}
