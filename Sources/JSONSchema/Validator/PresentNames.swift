/// The names of one table that occur as keys of an object, by slot. Valid until the next `begin`.
struct PresentNames {
    /// For each slot, the last `query` for which the slot was marked.
    private var stamps: [UInt32] = []
    private var query: UInt32 = 0

    /// Discards all marks, and makes room for slots below `slotsMax`.
    mutating func begin(slotsMax: Int) {
        if stamps.count < slotsMax { stamps += Array(repeating: 0, count: slotsMax - stamps.count) }
        if query == .max {
            for index in stamps.indices { stamps[index] = 0 }
            query = 0
        }
        query += 1
    }

    mutating func mark(_ slot: Int) { stamps[slot] = query }

    func contains(_ slot: Int) -> Bool { stamps[slot] == query }
}
