/// The parts of the console that a page shows.
enum ConsolePart: String, Sendable, CaseIterable {
    case fleet, queues, pauses, audit, actions, history
}

/// The numbers of the last changes of each part. It performs no I/O.
struct ChangeLog: Sendable, Hashable {
    /// The number of the last change.
    private(set) var sequence = 1
    private var numbers: [ConsolePart: Int] = [:]

    mutating func note(_ part: ConsolePart) {
        sequence += 1
        numbers[part] = sequence
    }

    /// Returns the parts that have changed since a number. Returns all parts for 0, and for a number above the last,
    /// such as one of an earlier process.
    func changed(after number: Int) -> [ConsolePart] {
        guard 1...sequence ~= number else { return ConsolePart.allCases }
        return ConsolePart.allCases.filter { numbers[$0] ?? 0 > number }
    }
}
