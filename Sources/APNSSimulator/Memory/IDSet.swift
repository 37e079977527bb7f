import Crypto

/// The newest request IDs.
///
/// Each of two generations contains at most half of the maximum number of IDs. When the newer generation is full, it
/// becomes the older generation, and the previous older generation is discarded. The initializer allocates the memory
/// for all IDs: 32 to 64 bytes each, or more if the maximum is below 512.
struct IDSet {
    private var newer: Generation
    private var older: Generation
    private let generationMax: Int
    /// Number of IDs discarded to make room.
    private(set) var forgotten = 0

    /// Creates an empty set.
    ///
    /// - Parameters:
    ///   - idsMax: maximum number of IDs. A value below 2 counts as 2. The set always contains at least the newest
    ///     `idsMax / 2` IDs.
    ///   - seed: determines the slots in the tables. Clients choose the IDs, so the seed must not be predictable for
    ///     clients.
    init(idsMax: Int, seed: UInt64) {
        generationMax = max(1, idsMax / 2)
        newer = Generation(idsMax: generationMax, seed: seed)
        older = Generation(idsMax: generationMax, seed: seed)
    }

    var count: Int { newer.count + older.count }

    func contains(_ id: UUIDValue) -> Bool { newer.contains(id) || older.contains(id) }

    /// Inserts an ID. Returns whether it is new.
    mutating func insert(_ id: UUIDValue) -> Bool {
        guard !older.contains(id) else { return false }
        if newer.count >= generationMax, !newer.contains(id) {
            swap(&newer, &older)
            forgotten += newer.count
            newer.removeAll()
        }
        return newer.insert(id)
    }

    /// Removes all IDs and resets ``forgotten``. Keeps the allocated memory.
    mutating func removeAll() {
        newer.removeAll()
        older.removeAll()
        forgotten = 0
    }
}

/// A set of IDs with open addressing. The number of slots is a power of two, and at most half of the slots are used.
/// The zero ID marks a free slot.
private struct Generation {
    private var slots: [UUIDValue]
    private let seed: UInt64
    private var used = 0
    /// Whether the set contains the zero ID, which the table cannot hold.
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

    /// Inserts an ID. Returns whether it is new.
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

    /// Removes all IDs, and keeps the allocated memory.
    mutating func removeAll() {
        for index in slots.indices { slots[index] = Self.free }
        used = 0
        hasZero = false
    }

    /// Returns the slot of the ID, or the free slot for it.
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
