/// The header blocks of requests that have not left yet, by rising stream, in storage that is used again.
struct UnsentHeaders {
    /// Blocks that are kept when none waits: what a burst has left would be cold each time it is come back to.
    private static let blocksKeptMax = 64

    private var blocks: [(streamID: Int32, block: HeaderBlock)] = []
    /// Those that are not used lie before and behind.
    private var waiting = 0..<0

    /// Takes the block, and leaves the caller an empty one.
    mutating func add(_ block: inout HeaderBlock, streamID: Int32) {
        if waiting.isEmpty { removeAll() }
        if waiting.upperBound == blocks.count { makeRoom() }
        swap(&blocks[waiting.upperBound].block, &block)
        blocks[waiting.upperBound].streamID = streamID
        waiting = waiting.lowerBound..<waiting.upperBound + 1
        block.removeAll()
    }

    /// Hands over the block of a request that leaves; what came before it was given up, and never leaves.
    mutating func take(streamID: Int32, _ body: (HeaderBlock) -> Void) {
        while let next = waiting.first, blocks[next].streamID <= streamID {
            waiting = waiting.dropFirst()
            if blocks[next].streamID == streamID { return body(blocks[next].block) }
        }
        preconditionFailure("a request without header fields")
    }

    /// All were given up.
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
