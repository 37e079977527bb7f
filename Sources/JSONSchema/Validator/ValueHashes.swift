import JSON

/// A hash for each value of a part of a text, such that equal values have equal ones. The standard library's hash is
/// keyed anew in each process: nobody can send values that collide.
struct ValueHashes {
    /// By node; what is outside of `hashed` means nothing.
    private var hashes: [UInt64] = []
    private var hashed = 0..<0
    /// Nodes hashed for this text so far: past twice its size the whole text is hashed, once.
    private var effort = 0

    subscript(_ node: Int) -> UInt64 { hashes[node] }

    mutating func begin() {
        hashed = 0..<0
        effort = 0
    }

    /// Makes sure that everything inside a container has a hash.
    mutating func hash(inside container: Int, of tape: JSONTapeView, nodeCount: Int) {
        var range = container + 1..<Int(tape.nodes[container].link)
        guard range.lowerBound < hashed.lowerBound || range.upperBound > hashed.upperBound else { return }
        effort += range.count
        if effort > 2 * nodeCount { range = 0..<nodeCount }
        if hashes.count < nodeCount { hashes = Array(repeating: 0, count: nodeCount) }
        // What is inside a container follows it, so from the end on all is there when it is asked for.
        for node in range.reversed() { hashes[node] = hash(of: node, tape) }
        hashed = range
    }

    private func hash(of node: Int, _ tape: JSONTapeView) -> UInt64 {
        let value = tape.nodes[node]
        var hasher = Hasher()
        hasher.combine(value.kind.rawValue)
        switch value.kind {
        case .null: break
        case .boolean: hasher.combine(value.count)
        case .number: tape.number(at: node).hash(into: &hasher)
        case .string: hasher.combine(bytes: tape.text(of: node))
        case .array:
            var element = node + 1
            while element < Int(value.link) {
                hasher.combine(hashes[element])
                element = tape.next(after: element)
            }
        case .object:
            // A sum does not know an order.
            var sum: UInt64 = 0
            var key = node + 1
            while key < Int(value.link) {
                var member = Hasher()
                member.combine(hashes[key])
                member.combine(hashes[key + 1])
                sum &+= UInt64(bitPattern: Int64(member.finalize()))
                key = tape.next(after: key + 1)
            }
            hasher.combine(sum)
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
