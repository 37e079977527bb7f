/// Who is measured: the floors, and Martlet.
enum BenchProgram: String, CaseIterable {
    case floorRelay = "floor-relay"
    case floorWorker = "floor-worker"
    case martlet

    /// Who takes messages from a queue.
    static let consumers = allCases

    /// nil: Martlet's worker.
    var floor: Floor? { Floor(rawValue: rawValue) }

    /// Its name as the first column of a table.
    var cell: String { rawValue + String(repeating: " ", count: max(0, Self.cellWidth - rawValue.count)) }
    static let cellWidth = 12
}
