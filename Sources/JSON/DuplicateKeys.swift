import Glibc
import Hashing

/// A detector of duplicate keys in an object. Compares fingerprints pairwise in small objects, and uses a hash table
/// for large objects. The time is therefore linear in the size of the object.
final class DuplicateKeys {
    private let fingerprints: UnsafeMutablePointer<UInt64> = .allocate(capacity: DuplicateKeys.smallMax)
    /// Slots that contain a key's node in the low half, and the high half of the key's hash in the high half. The hash
    /// avoids most comparisons of keys. 0 marks a free slot, since node 0 is never a key.
    private var table: [UInt64] = []
    private let mixer = SecretMixer()

    static let smallMax = 16
    /// The number of slots above which the table shrinks for the next object that needs at most this number.
    static let tableKeptMax = 1 << 16

    deinit { fingerprints.deallocate() }

    /// Returns the second of two equal keys of `object`, whose members have all been read; nil if all keys differ.
    func firstDuplicate(in object: Int, of tape: JSONTape) -> Int? {
        let count = Int(tape.nodes[object].count)
        guard count > 1 else { return nil }
        return count <= Self.smallMax
            ? duplicateOfFew(in: object, count: count, of: tape.view)
            : duplicateOfMany(in: object, count: count, of: tape.view)
    }

    private func duplicateOfFew(in object: Int, count: Int, of tape: JSONTapeView) -> Int? {
        var key = object + 1
        for position in 0..<count {
            let fingerprint = tape.keyWords(of: key).fingerprint
            for earlier in 0..<position where fingerprints[earlier] == fingerprint {
                if Self.isEqual(key, Self.key(earlier, of: object, tape), tape) { return key }
            }
            (fingerprints + position).initialize(to: fingerprint)
            key = tape.next(after: key + 1)
        }
        return nil
    }

    private func duplicateOfMany(in object: Int, count: Int, of tape: JSONTapeView) -> Int? {
        let size = 1 << (Int.bitWidth - (2 * count - 1).leadingZeroBitCount)
        if table.count < size || (table.count > Self.tableKeptMax && size <= Self.tableKeptMax) {
            table = Array(repeating: 0, count: size)
        }
        return table.withUnsafeMutableBufferPointer { slots in
            slots[..<size].update(repeating: 0)
            var key = object + 1
            for _ in 0..<count {
                let hash = mixer.hash(tape.keyWords(of: key), tape.text(of: key))
                var slot = Int(truncatingIfNeeded: hash) & (size - 1)
                while slots[slot] != 0 {
                    let isAlike = slots[slot] >> 32 == hash >> 32
                    if isAlike, Self.isEqual(key, Int(slots[slot] & 0xFFFF_FFFF), tape) { return key }
                    slot = (slot + 1) & (size - 1)
                }
                slots[slot] = (hash & ~0xFFFF_FFFF) | UInt64(UInt32(truncatingIfNeeded: key))
                key = tape.next(after: key + 1)
            }
            return nil
        }
    }

    private static func key(_ position: Int, of object: Int, _ tape: JSONTapeView) -> Int {
        var key = object + 1
        for _ in 0..<position { key = tape.next(after: key + 1) }
        return key
    }

    private static func isEqual(_ left: Int, _ right: Int, _ tape: JSONTapeView) -> Bool {
        let (left, right) = (tape.text(of: left), tape.text(of: right))
        guard left.count == right.count, let one = left.baseAddress, let other = right.baseAddress else { return false }
        return memcmp(one, other, left.count) == 0
    }
}
