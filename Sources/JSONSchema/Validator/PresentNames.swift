/// Which names of one table a value has, by their slots. Forgotten at once by the next question.
struct PresentNames {
    /// For each slot the last question in which it was marked.
    private var stamps: [UInt32] = []
    private var question: UInt32 = 0

    /// Asks anew, for slots below `slotsMax`.
    mutating func begin(slotsMax: Int) {
        if stamps.count < slotsMax { stamps += Array(repeating: 0, count: slotsMax - stamps.count) }
        if question == .max {
            for index in stamps.indices { stamps[index] = 0 }
            question = 0
        }
        question += 1
    }

    mutating func mark(_ slot: Int) { stamps[slot] = question }

    func contains(_ slot: Int) -> Bool { stamps[slot] == question }
}
