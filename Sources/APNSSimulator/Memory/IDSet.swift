import Crypto

/// The request ids that were seen last. Two generations share the limit: when the newer has its half, it becomes the
/// older, and what was older is forgotten. The memory for all of them, 32 to 64 bytes each, is taken at the start, so that
/// it never grows.
struct IDSet {
    private var newer: Generation
    private var older: Generation
    private let generationMax: Int
    /// Ids that were forgotten to make room.
    private(set) var forgotten = 0

    /// - Parameters:
    ///   - idsMax: ids remembered at most; at least half of them are the newest.
    ///   - seed: not to be foretold by whoever chooses the ids, since the places in the tables follow from it.
    init(idsMax: Int, seed: UInt64) {
        generationMax = max(1, idsMax / 2)
        newer = Generation(idsMax: generationMax, seed: seed)
        older = Generation(idsMax: generationMax, seed: seed)
    }

    var count: Int { newer.count + older.count }

    func contains(_ id: UUIDValue) -> Bool { newer.contains(id) || older.contains(id) }

    /// Whether the id is new.
    mutating func insert(_ id: UUIDValue) -> Bool {
        guard !older.contains(id) else { return false }
        if newer.count >= generationMax, !newer.contains(id) {
            swap(&newer, &older)
            forgotten += newer.count
            newer.removeAll()
        }
        return newer.insert(id)
    }

    /// Forgets all, and keeps the memory.
    mutating func removeAll() {
        newer.removeAll()
        older.removeAll()
        forgotten = 0
    }
}

/// A set of ids: open addressing, a power of two long and at most half full. All zeros marks a free place.
private struct Generation {
    private var slots: [UUIDValue]
    private let seed: UInt64
    private var used = 0
    /// The id that is all zeros cannot stand in the table.
    private var hasZero = false

    private static let free = UUIDValue(high: 0, low: 0)

    init(idsMax: Int, seed: UInt64) {
        var places = 1024
        while places < 2 * idsMax { places *= 2 }
        slots = Array(repeating: Self.free, count: places)
        self.seed = seed
    }

    var count: Int { used + (hasZero ? 1 : 0) }

    func contains(_ id: UUIDValue) -> Bool {
        id == Self.free ? hasZero : slots[place(of: id)] == id
    }

    /// Whether the id is new.
    mutating func insert(_ id: UUIDValue) -> Bool {
        if id == Self.free {
            defer { hasZero = true }
            return !hasZero
        }
        let place = place(of: id)
        guard slots[place] != id else { return false }
        slots[place] = id
        used += 1
        return true
    }

    /// Keeps the memory.
    mutating func removeAll() {
        for index in slots.indices { slots[index] = Self.free }
        used = 0
        hasZero = false
    }

    /// Where the id stands or would stand.
    private func place(of id: UUIDValue) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: Self.mix(id.high ^ Self.mix(id.low ^ seed))) & mask
        while slots[place] != Self.free, slots[place] != id { place = (place + 1) & mask }
        return place
    }

    private static func mix(_ word: UInt64) -> UInt64 {
        var word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
        return word ^ word >> 31
    }
}
