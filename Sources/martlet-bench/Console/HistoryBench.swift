import Glibc
import TestKit

/// The benchmark of the console's history in files: indexing and queries.
struct HistoryBench {
    /// The number of rounds of queries.
    private static let rounds = 500

    let options: ConsoleOptions

    /// Fills a history and adds the figures of goals 3 and 4. Returns the history.
    func run(_ report: inout ConsoleReport) throws -> HistoryFill {
        let history = try HistoryFill()
        MartletBench.log("indexing of \(options.rows) results starting")
        let filled = try history.fill(rows: options.rows, Self.load)
        report.goals += [
            Goal("3. indexing, µs of processor time a result", filled.processorMicrosecondsPerRow, .atMost(15)),
            Goal("3. indexing, results a second", filled.rowsPerSecond, .atLeast(50_000)),
            Goal("3. bytes a row", filled.bytesPerRow, .atMost(200)),
        ]
        let found = Percentiles(of: try history.find(rows: filled.rows, rounds: Self.rounds))
        report.goals.append(Goal("4. find in files, p99 ms", found.p99, .atMost(20)))
        report.figures += [
            Figure(title: "indexing, µs a result", key: "index_us", value: filled.microsecondsPerRow, places: 2),
            Figure(title: "find in files, p50 ms", key: "find_p50_ms", value: found.p50, places: 3),
        ]
        return history
    }

    static let load = JournalLoad(at: Int64(time(nil)) * 1000)
}
