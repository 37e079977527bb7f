import JSON

/// The check of `uniqueItems`. Compares a few elements in pairs. Uses a hash table for more elements, so that the
/// time is linear.
final class UniqueElements {
    private var hashes = ValueHashes()
    private let comparison = ValueComparison()
    /// Elements by hash. 0 marks a free slot, since node 0 is never an element.
    private var table: [UInt32] = []

    static let fewMax = 8
    /// Maximum number of nodes, of the array and all its contents, for a comparison in pairs.
    static let fewNodesMax = 64

    /// Discards the hashes of the previous text.
    func begin() { hashes.begin() }

    func areUnique(in array: Int, of tape: JSONTapeView, nodeCount: Int) -> Bool {
        Int(tape.nodes[array].count) <= Self.fewMax && Int(tape.nodes[array].link) - array <= Self.fewNodesMax
            ? areFewUnique(in: array, of: tape) : areManyUnique(in: array, of: tape, nodeCount: nodeCount)
    }

    private func areFewUnique(in array: Int, of tape: JSONTapeView) -> Bool {
        let end = Int(tape.nodes[array].link)
        var element = array + 1
        while element < end {
            let next = tape.next(after: element)
            var other = next
            while other < end {
                if comparison.isEqual(element, of: tape, other, of: tape) { return false }
                other = tape.next(after: other)
            }
            element = next
        }
        return true
    }

    private func areManyUnique(in array: Int, of tape: JSONTapeView, nodeCount: Int) -> Bool {
        hashes.hash(inside: array, of: tape, nodeCount: nodeCount)
        let count = Int(tape.nodes[array].count)
        let size = 1 << (Int.bitWidth - (2 * count - 1).leadingZeroBitCount)
        if table.count < size { table = Array(repeating: 0, count: size) }
        return table.withUnsafeMutableBufferPointer { slots in
            slots[..<size].update(repeating: 0)
            var element = array + 1
            for _ in 0..<count {
                let hash = hashes[element]
                var slot = Int(truncatingIfNeeded: hash) & (size - 1)
                while slots[slot] != 0 {
                    let other = Int(slots[slot])
                    if hashes[other] == hash, comparison.isEqual(element, of: tape, other, of: tape) { return false }
                    slot = (slot + 1) & (size - 1)
                }
                slots[slot] = UInt32(truncatingIfNeeded: element)
                element = tape.next(after: element)
            }
            return true
        }
    }
}
