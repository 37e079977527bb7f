/// Finds a key that stands twice in an object: pairs of fingerprints for a small one, a hash table for a large one, so
/// that the time grows with the object and not with its square.
final class DuplicateKeys {
    private let fingerprints: UnsafeMutablePointer<UInt64> = .allocate(capacity: DuplicateKeys.smallMax)
    /// Indices of key nodes; 0 is free, since the node 0 is never a key.
    private var table: [UInt32] = []

    static let smallMax = 16
    /// Slots of the table that are kept from one text to the next.
    static let tableKeptMax = 1 << 16

    deinit { fingerprints.deallocate() }

    /// The second of two equal keys of the object at `object`, whose members have all been read.
    func firstDuplicate(in object: Int, of tape: JSONTape) -> Int? {
        let count = Int(tape.nodes[object].count)
        guard count > 1 else { return nil }
        return count <= Self.smallMax
            ? duplicateOfFew(in: object, count: count, of: tape) : duplicateOfMany(in: object, count: count, of: tape)
    }

    private func duplicateOfFew(in object: Int, count: Int, of tape: JSONTape) -> Int? {
        var key = object + 1
        for position in 0..<count {
            let fingerprint = tape.view.keyWords(of: key).fingerprint
            for earlier in 0..<position where fingerprints[earlier] == fingerprint {
                if Self.isEqual(key, Self.key(earlier, of: object, tape), tape) { return key }
            }
            (fingerprints + position).initialize(to: fingerprint)
            key = tape.next(after: key + 1)
        }
        return nil
    }

    private func duplicateOfMany(in object: Int, count: Int, of tape: JSONTape) -> Int? {
        let size = 1 << (Int.bitWidth - (2 * count - 1).leadingZeroBitCount)
        if table.count < size || (table.count > Self.tableKeptMax && size <= Self.tableKeptMax) {
            table = Array(repeating: 0, count: size)
        }
        return table.withUnsafeMutableBufferPointer { slots in
            for slot in 0..<size { slots[slot] = 0 }
            var key = object + 1
            for _ in 0..<count {
                // The standard library's hash is keyed anew in each process: nobody can send keys that collide.
                var hasher = Hasher()
                hasher.combine(bytes: tape.text(of: key))
                var slot = hasher.finalize() & (size - 1)
                while slots[slot] != 0 {
                    if Self.isEqual(key, Int(slots[slot]), tape) { return key }
                    slot = (slot + 1) & (size - 1)
                }
                slots[slot] = UInt32(truncatingIfNeeded: key)
                key = tape.next(after: key + 1)
            }
            return nil
        }
    }

    private static func key(_ position: Int, of object: Int, _ tape: JSONTape) -> Int {
        var key = object + 1
        for _ in 0..<position { key = tape.next(after: key + 1) }
        return key
    }

    private static func isEqual(_ left: Int, _ right: Int, _ tape: JSONTape) -> Bool {
        tape.text(of: left).elementsEqual(tape.text(of: right))
    }
}
