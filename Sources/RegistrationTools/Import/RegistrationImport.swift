package import EventLoop
import Hashing
package import Registrations

/// An import of registrations from a file.
///
/// The import reads a batch while the store applies the previous one. The checkpoint advances after the store has
/// applied a batch. The import writes the checkpoint while the store applies the next batch. After a kill, a resumed
/// import applies the lines after the checkpoint, some of them again. A repeated registration changes nothing.
///
/// Loop-bound.
package final class RegistrationImport {
    package enum End: Equatable, Sendable {
        case complete
        /// A stop because the closure `isStopped` returned true.
        case stopped
        /// A file that is unreadable or has an invalid header, or an import that cannot resume. Also a checkpoint or
        /// rejects that cannot be read or written.
        case failed(ImportError)
        case storeFailed(StoreFault)
    }

    package struct Options: Sendable {
        /// The path of the file; `-` is standard input, which has neither a checkpoint nor a file of rejects.
        package var path: String
        /// Whether to continue after the checkpoint beside the file.
        package var resumes: Bool
        /// The time of lines without `registered_at`, in UNIX milliseconds.
        package var registeredAt: Int64?
        /// The fingerprint of the store's index key.
        package var indexKey: String
        /// The location of the store. A resumed import into another store is refused.
        package var location = ""
        /// Minimum number of lines between two writes of the checkpoint while the import runs.
        var checkpointLines = 2_000

        package init(path: String, resumes: Bool = false, registeredAt: Int64? = nil, indexKey: String = "") {
            (self.path, self.resumes, self.registeredAt) = (path, resumes, registeredAt)
            self.indexKey = indexKey
        }

        /// A hash that identifies the store in a checkpoint.
        var store: UInt64 {
            var hash = FNV1a()
            hash.mix((indexKey + location).utf8)
            return hash.value
        }
    }

    /// Lines that the import reads together.
    private struct Batch {
        var items: [Item] = []
        var rejects: [ImportReject] = []
        /// The number of lines, blank and rejected ones included.
        var lineCount = 0
        /// The place after the lines.
        var place = ImportPlace()
    }

    /// A command or end, and its line.
    private struct Item {
        var line: Int
        var content: ImportParser.Content

        var command: RegistrationCommand? {
            if case .command(let command) = content { command } else { nil }
        }

        var end: StoredEnd? {
            if case .end(let end) = content { end } else { nil }
        }
    }

    /// The outcome of a batch.
    private struct Settled {
        /// The counts of the import, this batch included.
        var counts: ImportCounts
        var rejects: [ImportReject]

        mutating func add(_ outcomes: [CommandOutcome]) {
            for outcome in outcomes { counts.add(outcome.reply) }
        }
    }

    /// A batch whose outcome the import awaits.
    private struct InFlightBatch {
        var batch: Batch
        /// The call to the store; nil if the batch has no items, and in a dry run.
        var call: AwaitedBatch?
    }

    /// The number of lines that the import reads in one event-loop iteration.
    private static let linesPerIteration = 32

    private let options: Options
    private let loop: EventLoop
    /// The store; nil in a dry run.
    private let store: StoreSession?
    private let rejected: ([ImportReject]) -> Void
    private let isStopped: () -> Bool
    private var parser: ImportParser
    private var rejects: RejectFile?
    /// The progress. The import has applied, rejected or, in a dry run, only validated the first `line` lines.
    private var checkpoint = ImportCheckpoint()
    private var writtenLine = 0
    private var batchSize: ImportBatchSize

    /// Creates an import.
    ///
    /// - Parameters:
    ///   - store: The store, which is open; nil for a dry run, which only validates the file.
    ///   - environment: See ``ReceivedCommand/EnvironmentLookup``.
    ///   - rejected: Receives the rejects of standard input.
    ///   - isStopped: Returns whether to stop after the current batch.
    package init(
        _ options: Options, into store: StoreSession?, on loop: EventLoop,
        environment: @escaping ReceivedCommand.EnvironmentLookup, rejected: @escaping ([ImportReject]) -> Void,
        isStopped: @escaping () -> Bool = { false }
    ) {
        (self.options, self.store, self.loop) = (options, store, loop)
        (self.rejected, self.isStopped) = (rejected, isStopped)
        checkpoint.store = options.store
        batchSize = ImportBatchSize(
            linesMin: CommandBatch.commandsMax, linesMax: store?.importCommandsMax ?? CommandBatch.commandsMax)
        parser = ImportParser(
            registeredAt: options.registeredAt, indexKey: options.indexKey, environment: environment)
    }

    /// Returns the path of the file of rejects of an imported file.
    package static func rejectsPath(of file: String) -> String { RejectFile.path(of: file) }

    package var counts: ImportCounts { checkpoint.counts }

    /// The number of completed lines, those of earlier runs included.
    package var line: Int { checkpoint.line }

    /// The number of completed bytes, those of earlier runs included.
    package var bytes: Int { checkpoint.bytes }

    private var isFile: Bool { options.path != "-" }

    /// Runs the import.
    ///
    /// - Parameter began: Called after the lines before the checkpoint are skipped. Receives the size of the file; nil
    ///   for standard input.
    package func run(_ began: (_ size: Int?) -> Void = { _ in }) async -> End {
        do throws(ImportError) {
            var reader = try ImportReader(options.path)
            if isFile {
                if options.resumes, let found = try ImportCheckpoint.read(of: options.path) {
                    guard found.store == options.store else {
                        throw ImportError(
                            "cannot resume the import of \(options.path): it began in another store; to import all "
                                + "lines, run the command again without --resume")
                    }
                    try reader.skip(to: found, &parser)
                    (checkpoint, writtenLine) = (found, found.line)
                }
                rejects = try RejectFile(of: options.path, keeping: checkpoint.rejectBytes)
                // An import that cannot write its checkpoint must fail before it changes the store.
                try writeCheckpoint()
            }
            began(reader.size)
            return try await importLines(of: &reader)
        } catch {
            return .failed(error)
        }
    }

    private func importLines(of reader: inout ImportReader) async throws(ImportError) -> End {
        var inFlight: InFlightBatch?
        while true {
            let next = isStopped() ? nil : try await nextBatch(of: &reader)
            let completed = inFlight
            var settled: Settled?
            if let completed {
                switch await settle(completed) {
                case .success(let outcome): settled = outcome
                case .failure(let fault):
                    try writeCheckpoint()
                    return .storeFailed(fault)
                }
            }
            inFlight = next.map { begin($0) }
            if let completed, let settled { try advance(to: completed.batch.place, settled) }
            if inFlight == nil { break }
        }
        guard isStopped() else {
            if isFile, store != nil { ImportCheckpoint.remove(of: options.path) }
            return .complete
        }
        try writeCheckpoint()
        return .stopped
    }

    private func begin(_ batch: Batch) -> InFlightBatch {
        let items = batch.items
        return InFlightBatch(
            batch: batch,
            call: items.isEmpty ? nil : store?.submit(items.compactMap(\.command), ends: items.compactMap(\.end)))
    }

    /// Reads and returns the next batch. Returns nil at the end of the file, or if the import is stopped before the
    /// first line of the batch.
    private func nextBatch(of reader: inout ImportReader) async throws(ImportError) -> Batch? {
        var batch = Batch()
        let now = loop.now.unixMilliseconds
        let lineCount = batchSize.lines
        while batch.lineCount < lineCount,
            let line = try await reader.line(on: loop, unless: isStopped)
        {
            let number = reader.place.line
            switch line {
            case .tooLong: batch.rejects.append(ImportReject(line: number, .tooLong))
            case .text(let text):
                let content = try parser.content(of: text, now: now)
                switch content {
                case .nothing: break
                case .command, .end: batch.items.append(Item(line: number, content: content))
                case .violation(let violation): batch.rejects.append(ImportReject(line: number, violation))
                }
            }
            batch.place = reader.place
            batch.lineCount += 1
            // The store's connection, signals and the progress bar use the loop meanwhile.
            if batch.lineCount.isMultiple(of: Self.linesPerIteration) { await loop.sleep(for: .zero) }
        }
        return batch.lineCount == 0 ? nil : batch
    }

    /// Waits for the outcomes of a batch. Items whose values the store refuses become rejects.
    private func settle(_ inFlight: InFlightBatch) async -> Result<Settled, StoreFault> {
        let batch = inFlight.batch
        var settled = Settled(counts: checkpoint.counts, rejects: batch.rejects)
        if let store, let call = inFlight.call {
            do throws(StoreFault) {
                do throws(StoreFault) {
                    settled.add(try await call.reply.value())
                    batchSize.batchCompleted(lines: batch.lineCount, after: call.duration)
                } catch {
                    try await apply(batch.items[...], to: store, &settled)
                }
            } catch {
                return .failure(error)
            }
        } else {
            settled.counts.addValid(batch.items.count)
        }
        settled.rejects.sort { $0.line < $1.line }
        settled.counts.addRejects(settled.rejects.count)
        return .success(settled)
    }

    /// Applies items. If the store refuses their values, splits them in halves until each faulty item is alone.
    private func apply(
        _ items: ArraySlice<Item>, to store: StoreSession, _ settled: inout Settled
    ) async throws(StoreFault) {
        do throws(StoreFault) {
            settled.add(try await store.apply(items.compactMap(\.command), ends: items.compactMap(\.end)))
        } catch {
            guard error.code == .data, let first = items.first else { throw error }
            guard items.count > 1 else { return settled.rejects.append(ImportReject(line: first.line, error)) }
            let half = items.startIndex + items.count / 2
            try await apply(items[..<half], to: store, &settled)
            try await apply(items[half...], to: store, &settled)
        }
    }

    private func advance(to place: ImportPlace, _ settled: Settled) throws(ImportError) {
        try rejects?.append(settled.rejects)
        if rejects == nil, !settled.rejects.isEmpty { rejected(settled.rejects) }
        checkpoint = ImportCheckpoint(
            store: checkpoint.store, line: place.line, bytes: place.bytes, hash: place.hash,
            rejectBytes: rejects?.bytes ?? 0, counts: settled.counts)
        if place.line - writtenLine >= options.checkpointLines { try writeCheckpoint() }
    }

    private func writeCheckpoint() throws(ImportError) {
        guard isFile, store != nil else { return }
        try checkpoint.write(of: options.path)
        writtenLine = checkpoint.line
    }
}

extension CommandViolation {
    fileprivate static let tooLong = CommandViolation(
        .size, "message_bytes", "The line is longer than \(ReceivedCommand.bytesMax) bytes.")
}
