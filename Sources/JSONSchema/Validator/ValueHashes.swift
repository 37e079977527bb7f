import Hashing
import JSON

/// Hashes of the values of a part of a text. Equal values have equal hashes.
struct ValueHashes {
    /// The hashes by node, valid only within `hashed`.
    private var hashes: [UInt64] = []
    private var hashed = 0..<0
    /// The number of nodes hashed so far for this text. If it exceeds twice the number of nodes in the text, the whole
    /// text is hashed once.
    private var effort = 0

    private let mixer = SecretMixer()

    subscript(_ node: Int) -> UInt64 { hashes[node] }

    mutating func begin() {
        hashed = 0..<0
        effort = 0
    }

    /// Hashes all values inside a container, unless they are hashed already.
    mutating func hash(inside container: Int, of tape: JSONTapeView, nodeCount: Int) {
        var range = container + 1..<Int(tape.nodes[container].link)
        guard range.lowerBound < hashed.lowerBound || range.upperBound > hashed.upperBound else { return }
        effort += range.count
        if effort > 2 * nodeCount { range = 0..<nodeCount }
        if hashes.count < nodeCount { hashes = Array(repeating: 0, count: nodeCount) }
        // Children follow their container, so in reverse order their hashes are available.
        for node in range.reversed() { hashes[node] = hash(of: node, tape) }
        hashed = range
    }

    @inline(__always) private func hash(of node: Int, _ tape: JSONTapeView) -> UInt64 {
        let value = tape.nodes[node]
        let kind = UInt64(value.kind.rawValue)
        switch value.kind {
        case .null: return kind
        case .boolean: return mixer.mix(kind, UInt64(value.count))
        case .string: return mixer.hash(tape.keyWords(of: node), tape.text(of: node))
        case .number: return hash(of: tape.number(at: node))
        case .array:
            var hash = kind
            var element = node + 1
            while element < Int(value.link) {
                hash = mixer.mix(hash, hashes[element])
                element = tape.next(after: element)
            }
            return hash
        case .object:
            // A sum is independent of the order.
            var sum: UInt64 = 0
            var key = node + 1
            while key < Int(value.link) {
                sum &+= mixer.mix(hashes[key], hashes[key + 1])
                key = tape.next(after: key + 1)
            }
            return mixer.mix(kind, sum)
        }
    }

    private func hash(of number: JSONNumber) -> UInt64 {
        if let (digits, exponent) = number.shortDigits { return mixer.mix(digits, UInt64(bitPattern: exponent)) }
        var hasher = Hasher()
        number.hash(into: &hasher)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
