/// Who is measured: the baselines, and Martlet.
enum BenchProgram: String, CaseIterable {
    case baselineRelay = "baseline-relay"
    case baselineWorker = "baseline-worker"
    case h2load
    case martlet

    /// Who takes messages from a queue.
    static let consumers: [BenchProgram] = [.baselineRelay, .baselineWorker, .martlet]

    /// nil: no baseline of a worker.
    var baseline: Baseline? { Baseline(rawValue: rawValue) }

    /// Its name as the first column of a table.
    var cell: String { rawValue + String(repeating: " ", count: max(0, Self.cellWidth - rawValue.count)) }
    static let cellWidth = 15
}

extension [BenchProgram] {
    /// Another one is first in each turn, so that none has always the same place.
    ///
    /// - Parameter turn: from 1 on.
    func order(ofTurn turn: Int) -> [BenchProgram] { indices.map { self[($0 + turn - 1) % count] } }
}
