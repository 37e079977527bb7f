import Crypto

/// The request ids that were seen, 16 bytes each. Grows to a limit; at the limit it takes in no more.
struct IDSet {
    enum Insertion { case new, seenBefore, full }

    /// Open addressing, a power of two long and at most half full. All zeros marks a free place.
    private var slots: [UUIDValue] = Array(repeating: free, count: 1024)
    private let idsMax: Int
    private var used = 0
    /// The id that is all zeros cannot stand in the table.
    private var hasZero = false

    private static let free = UUIDValue(high: 0, low: 0)

    init(idsMax: Int) {
        self.idsMax = idsMax
    }

    var count: Int { used + (hasZero ? 1 : 0) }

    func contains(_ id: UUIDValue) -> Bool {
        id == Self.free ? hasZero : slots[place(of: id)] == id
    }

    mutating func insert(_ id: UUIDValue) -> Insertion {
        guard !contains(id) else { return .seenBefore }
        guard count < idsMax else { return .full }
        if id == Self.free {
            hasZero = true
            return .new
        }
        if used * 2 >= slots.count { grow() }
        slots[place(of: id)] = id
        used += 1
        return .new
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Self.free, count: old.count * 2)
        for id in old where id != Self.free { slots[place(of: id)] = id }
    }

    /// Where the id stands or would stand.
    private func place(of id: UUIDValue) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: Self.mix(id.high ^ Self.mix(id.low))) & mask
        while slots[place] != Self.free, slots[place] != id { place = (place + 1) & mask }
        return place
    }

    private static func mix(_ word: UInt64) -> UInt64 {
        var word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
