import Glibc
import History
import Registrations
import SQLite
import TestKit

/// A history in a temporary folder, filled with results.
struct HistoryFill {
    /// The number of batches of a transaction, about the size at which the console ends one.
    private static let batchesPerTransaction = 40

    let directory: TemporaryDirectory
    let folder: HistoryFolder
    let keys: RegistrationKeys

    init() throws {
        directory = try TemporaryDirectory("history")
        folder = HistoryFolder(directory.path)
        let text = try RegistrationKeys.generatedFile()
        keys = try RegistrationKeys(json: text, source: "benchmark")
        try directory.write("keys.json", String(decoding: text, as: UTF8.self))
        guard chmod(directory.file("keys.json"), 0o600) == 0 else {
            throw ProcessError(errno, "cannot protect the keys")
        }
    }

    struct Figures {
        var rows = 0
        /// The time of the transactions, without the building of their batches.
        var elapsed = Duration.zero
        var processorTime = Duration.zero
        var bytes = 0

        var microsecondsPerRow: Double { elapsed.microseconds / Double(rows) }
        var processorMicrosecondsPerRow: Double { processorTime.microseconds / Double(rows) }
        var rowsPerSecond: Double { Double(rows) / elapsed.microseconds * 1e6 }
        var bytesPerRow: Double { Double(bytes) / Double(rows) }
    }

    /// Stores at least `rows` results, as the console does, with one commit for each transaction. Blocks.
    func fill(rows: Int, _ load: JournalLoad) throws -> Figures {
        var figures = Figures()
        let file = try SQLiteFile.open(folder.indexPath, .readWrite, schema: .historyIndex)
        do {
            let writer = try HistoryWriter(file, folder, keys, HistoryLimits()) { nil }
            let batches = (rows + JournalLoad.resultsPerBatch - 1) / JournalLoad.resultsPerBatch
            for first in stride(from: 0, to: batches, by: Self.batchesPerTransaction) {
                let messages = (first..<min(batches, first + Self.batchesPerTransaction)).map { load.message($0) }
                let (start, processorStart) = (ContinuousClock.now, ProcessorClock.nanoseconds)
                let progress = try file.transaction { () throws(SQLiteError) in
                    try writer.write(messages, at: load.at)
                }
                figures.processorTime += .nanoseconds(ProcessorClock.nanoseconds - processorStart)
                figures.elapsed += ContinuousClock.now - start
                figures.rows += progress.rows
            }
            file.close()
        } catch {
            file.close()
            throw error
        }
        guard figures.rows >= rows else { throw ProcessError("only \(figures.rows) of \(rows) results were stored") }
        for name in try Files.names(in: folder.path) where name.hasPrefix("segment-") {
            var status = stat()
            guard stat(directory.file(name), &status) == 0 else { throw ProcessError(errno, "cannot read \(name)") }
            figures.bytes += Int(status.st_size)
        }
        return figures
    }

    /// Returns the latencies of queries by id, unknown id, token, start of a token, user and code, in ascending order.
    ///
    /// - Parameter rows: the number of stored results.
    func find(rows: Int, rounds: Int) throws -> [Duration] {
        let file = try SQLiteFile.open(folder.indexPath, .readOnly, schema: .historyIndex)
        defer { file.close() }
        let reader = try HistoryReader(file, folder, keys)
        var latencies: [Duration] = []
        for round in 0..<rounds {
            // Steps of a prime reach all parts of the history.
            let number = round &* 7_919_993 % rows
            let token = JournalLoad.token(number)
            let queries: [(HistoryQuery, isFound: Bool)] = [
                (.id(JournalLoad.id(number)), true), (.id(JournalLoad.id(rows + 1_000_000 + round)), false),
                (.token(token), true), (.token(String(token.prefix(10))), true),
                (.user("user-\(number / 10 * 10)"), true), (.code("Unregistered", app: nil), true),
            ]
            for (query, isFound) in queries {
                let start = ContinuousClock.now
                let page = try file.transaction { () throws(SQLiteError) in try reader.page(query) }
                latencies.append(ContinuousClock.now - start)
                guard page.rows.isEmpty != isFound else { throw ProcessError("the history answers \(query) wrongly") }
            }
        }
        return latencies.sorted()
    }
}
