/// Who is measured: the floors, and Martlet.
enum BenchProgram: String, CaseIterable {
    case floorRelay = "floor-relay"
    case floorWorker = "floor-worker"
    case h2load
    case martlet

    /// Who takes messages from a queue.
    static let consumers: [BenchProgram] = [.floorRelay, .floorWorker, .martlet]

    /// nil: no floor of a worker.
    var floor: Floor? { Floor(rawValue: rawValue) }

    /// Its name as the first column of a table.
    var cell: String { rawValue + String(repeating: " ", count: max(0, Self.cellWidth - rawValue.count)) }
    static let cellWidth = 12
}

extension [BenchProgram] {
    /// Another one is first in each turn, so that none has always the same place.
    ///
    /// - Parameter turn: from 1 on.
    func order(ofTurn turn: Int) -> [BenchProgram] { indices.map { self[($0 + turn - 1) % count] } }
}
