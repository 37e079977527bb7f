import Text

/// A measured program, which is a baseline, h2load or Martlet.
enum BenchProgram: String, CaseIterable {
    case baselineRelay = "baseline-relay"
    case baselineWorker = "baseline-worker"
    case h2load
    case martlet

    /// The programs that consume requests from a queue.
    static let consumers: [BenchProgram] = [.baselineRelay, .baselineWorker, .martlet]

    /// The C program; nil for h2load and Martlet.
    var baseline: Baseline? { Baseline(rawValue: rawValue) }

    /// The name, padded to `cellWidth` characters for a table.
    var cell: String { rawValue.padded(to: Self.cellWidth) }
    static let cellWidth = 15
}

extension [BenchProgram] {
    /// Returns the programs, rotated by one position with each sample, so that each program runs first in turn.
    ///
    /// - Parameter sample: The number of the sample, starting at 1.
    func order(ofSample sample: Int) -> [BenchProgram] { indices.map { self[($0 + sample - 1) % count] } }
}
