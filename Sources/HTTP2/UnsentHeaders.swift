/// The header blocks of requests that have not left yet, in their order, in storage that is used again.
struct UnsentHeaders {
    private var blocks: [(streamID: Int32, block: HeaderBlock)] = []
    /// Those that are not used lie before and behind.
    private var waiting = 0..<0

    /// Takes the block, and leaves the caller one that was used before.
    mutating func add(_ block: inout HeaderBlock, streamID: Int32) {
        if waiting.upperBound == blocks.count { makeRoom() }
        swap(&blocks[waiting.upperBound].block, &block)
        blocks[waiting.upperBound].streamID = streamID
        waiting = waiting.lowerBound..<waiting.upperBound + 1
    }

    /// Hands over the block of a request that leaves; what came before it was given up, and never leaves.
    mutating func take<Result>(streamID: Int32, _ body: (HeaderBlock) -> Result) -> Result? {
        while let next = waiting.first {
            waiting = waiting.dropFirst()
            guard blocks[next].streamID == streamID else { continue }
            return body(blocks[next].block)
        }
        return nil
    }

    private mutating func makeRoom() {
        guard !waiting.isEmpty || blocks.isEmpty else {
            waiting = 0..<0
            return
        }
        for place in waiting { blocks.swapAt(place, place - waiting.lowerBound) }
        waiting = 0..<waiting.count
        if waiting.count == blocks.count { blocks.append((0, HeaderBlock())) }
    }
}
