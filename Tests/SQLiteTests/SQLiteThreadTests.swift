import EventLoop
import Glibc
import SQLite
import TestKit
import Testing
import Threads

@Suite struct SQLiteThreadTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("registrations.sqlite")
    }

    /// Calls `body` with a thread that has the file open for writing, and then closes the thread.
    private func withWriter(
        _ limits: SQLiteJobLimits = SQLiteJobLimits(),
        _ body: @escaping @Sendable (EpollLoop, String, EntryThread) async throws -> Void
    ) async throws {
        let path = path
        try await onEpollLoop { loop in
            let writer = try EntryThread(path, on: loop, limits: limits)
            #expect(try await writer.openingError() == nil)
            try await body(loop, path, writer)
            try await writer.close()
        }
    }

    // MARK: Order and transactions

    @Test func thousandsOfJobsKeepTheirOrder() async throws {
        try await withWriter { loop, _, writer in
            let (count, outcomes, run) = (5000, Outcomes(), KeyLog())
            for key in 0..<Int64(count) {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in
                    run.add(key)
                    try entries.insert(key)
                }
            }
            try await loop.wait { outcomes.areComplete }
            #expect(outcomes.order == Array(0..<count))
            #expect(outcomes.codes == Array(repeating: nil, count: count))
            #expect(run.keys == Array(0..<Int64(count)))
            #expect(try await writer.keys() == run.keys)
        }
    }

    @Test func waitingJobsShareATransactionThatReadersDoNotSee() async throws {
        try await withWriter { loop, path, writer in
            let reader = try EntryThread(path, .readOnly, on: loop)
            let (first, last, outcomes) = (Gate(), Gate(), Outcomes())
            try await writer.pause(at: first) { entries throws(SQLiteError) in try entries.insert(0) }
            for key in Int64(1)...100 {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in
                    try entries.insert(key)
                    if key == 100 { last.pass() }
                }
            }
            #expect(try await reader.keys() == [])
            first.open()
            // The second transaction has written 100 entries and is not committed.
            try await loop.wait { last.hasVisitor }
            #expect(try await reader.keys() == [0])
            #expect(outcomes.order == [])
            last.open()
            try await loop.wait { outcomes.areComplete }
            #expect(try await reader.keys() == Array(0...100))
            try await reader.close()
        }
    }

    @Test func aJobWithRefusedDataLosesOnlyItsOwnChanges() async throws {
        try await withWriter { loop, _, writer in
            let (gate, outcomes) = (Gate(), Outcomes())
            try await writer.pause(at: gate) { entries throws(SQLiteError) in try entries.insert(500) }
            for key in Int64(0)..<1000 {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in
                    try entries.insert(key + 1000)
                    try entries.insert(key)
                }
            }
            gate.open()
            try await loop.wait { outcomes.areComplete }
            #expect(outcomes.order == Array(0..<1000))
            #expect(outcomes.codes.firstIndex(of: .constraint) == 500)
            #expect(outcomes.codes.filter { $0 != nil }.count == 1)
            let expected = Array(Int64(0)..<1000) + (Int64(1000)..<2000).filter { $0 != 1500 }
            #expect(try await writer.keys() == expected)
        }
    }

    @Test func aReadFailsAlone() async throws {
        try await withWriter { loop, path, writer in
            let reader = try EntryThread(path, .readOnly, on: loop)
            let (gate, outcomes) = (Gate(), Outcomes())
            try await reader.pause(at: gate)
            for isWrite in [false, true, false] {
                try reader.submit(into: outcomes) { entries throws(SQLiteError) in
                    if isWrite { try entries.insert(2) } else { _ = try entries.keys() }
                }
            }
            gate.open()
            try await loop.wait { outcomes.areComplete }
            #expect(outcomes.codes == [nil, .readOnly, nil])
            try await reader.close()
        }
    }

    @Test func aFullFileFailsTheTransactionAndTheThreadContinues() async throws {
        try await withWriter { loop, path, writer in
            let setUp = try await writer.run { entries throws(SQLiteError) in
                try entries.insert(1)
                try entries.file.execute("PRAGMA max_page_count = 30")
            }
            #expect(setUp == nil)
            let reader = try EntryThread(path, .readOnly, on: loop)
            let (gate, outcomes) = (Gate(), Outcomes())
            try await writer.pause(at: gate)
            for key in Int64(2)..<200 {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in
                    try entries.insert(key, bytes: 2000)
                }
            }
            gate.open()
            try await loop.wait { outcomes.areComplete }
            #expect(outcomes.codes == Array(repeating: .full, count: 198))
            #expect(try await reader.keys() == [1])
            // A higher limit makes space available again.
            let next = try await writer.run { entries throws(SQLiteError) in
                try entries.file.execute("PRAGMA max_page_count = 1000")
                try entries.insert(2, bytes: 200_000)
            }
            #expect(next == nil)
            #expect(try await reader.keys() == [1, 2])
            try await reader.close()
        }
    }

    // MARK: The queue

    @Test func aFullQueueRefusesJobs() async throws {
        try await withWriter(SQLiteJobLimits(jobsWaitingMax: 3, jobsPerTransactionMax: 2)) { loop, _, writer in
            let (gate, outcomes) = (Gate(), Outcomes())
            try await writer.pause(at: gate)
            for key in Int64(1)...3 {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in try entries.insert(key) }
            }
            let refused = Outcomes()
            #expect(writer.refusal(into: refused)?.code == .queueFull)
            gate.open()
            try await loop.wait { outcomes.areComplete }
            #expect(try await writer.keys() == [1, 2, 3])
            #expect(refused.order == [])
            #expect(writer.refusal(into: refused) == nil)
        }
    }

    @Test func completionsReturnToTheLoopOfTheirJob() async throws {
        try await withWriter { loop, _, writer in
            let thread = writer.thread
            try await onEpollLoop { other in
                let outcomes = Outcomes()
                for key in Int64(0)..<50 {
                    // The job asserts that it completes on its loop.
                    try thread.submit(
                        EntryJob(on: other, into: outcomes) { entries throws(SQLiteError) in try entries.insert(key) })
                }
                try await other.wait { outcomes.areComplete }
            }
            #expect(try await writer.keys().count == 50)
        }
    }

    // MARK: Opening and closing

    @Test func jobsOfAFileThatCannotBeOpenedFail() async throws {
        let path = directory.file("missing/registrations.sqlite")
        try await onEpollLoop { loop in
            let (writer, outcomes) = (try EntryThread(path, on: loop), Outcomes())
            // The job is refused if opening the file has failed already. Otherwise, it fails later.
            let refusal = writer.refusal(into: outcomes)
            #expect(try await writer.openingError()?.code == .cannotOpen)
            if refusal == nil { try await loop.wait { outcomes.areComplete } }
            #expect(outcomes.codes.first ?? refusal?.code == .cannotOpen)
            #expect(writer.refusal(into: outcomes)?.code == .cannotOpen)
            try await writer.close()
        }
    }

    @Test func closingInterruptsTheStatementAndCancelsTheRest() async throws {
        try await withWriter { loop, path, writer in
            let (gate, outcomes) = (Gate(), Outcomes())
            gate.open()
            let setUp = try await writer.run { entries throws(SQLiteError) in try entries.insert(1) }
            #expect(setUp == nil)
            try writer.submit(into: outcomes) { entries throws(SQLiteError) in
                try entries.insert(2)
                try entries.runEndlessStatement { gate.pass() }
            }
            for key in Int64(3)..<10 {
                try writer.submit(into: outcomes) { entries throws(SQLiteError) in try entries.insert(key) }
            }
            try await loop.wait { gate.hasVisitor }
            try await writer.close()
            #expect(outcomes.order == Array(0..<8))
            // The jobs of the interrupted transaction share its error. Jobs that still waited complete with `closed`.
            #expect(outcomes.codes.first == .interrupted)
            #expect(Set(outcomes.codes).isSubset(of: [.interrupted, .closed]))
            #expect(writer.refusal(into: outcomes)?.code == .closed)
            // The lock is free, and the transaction was rolled back.
            let next = try EntryThread(path, on: loop)
            #expect(try await next.keys() == [1])
            try await next.close()
        }
    }

    @Test func jobsThatWaitForTheRunningTransactionAreCancelled() async throws {
        try await withWriter { loop, path, writer in
            let (gate, outcomes) = (Gate(), Outcomes())
            try await writer.pause(at: gate, into: outcomes) { entries throws(SQLiteError) in try entries.insert(1) }
            try writer.submit(into: outcomes) { entries throws(SQLiteError) in try entries.insert(2) }
            writer.beginClosing()
            gate.open()
            try await writer.close()
            // The thread commits the running transaction, whose last job has run.
            #expect(outcomes.order == [0, 1])
            #expect(outcomes.codes == [nil, .closed])
            let next = try EntryThread(path, on: loop)
            #expect(try await next.keys() == [1])
            try await next.close()
        }
    }

    @Test func aClosedThreadLeavesAllRowsInTheDatabase() async throws {
        try await withWriter { _, path, writer in
            #expect(try await writer.run { entries throws(SQLiteError) in try entries.insert(1) } == nil)
            #expect(access(path + "-wal", F_OK) == 0)
            try await writer.close()
            #expect(access(path + "-wal", F_OK) != 0)
        }
    }

    @Test func aThreadClosesWhileItOpensTheFile() async throws {
        let path = path
        try await onEpollLoop { loop in
            for _ in 0..<20 {
                let writer = try EntryThread(path, on: loop)
                try await writer.close()
                try await writer.close()
                #expect(try await writer.openingError() == nil)
            }
        }
    }
}

/// A thread of the small database, used on one loop.
private final class EntryThread {
    let thread: SQLiteThread<Entries>
    private let loop: EpollLoop
    private var opened: SQLiteError??

    init(
        _ path: String, _ access: SQLiteFile.Access = .readWrite, on loop: EpollLoop,
        limits: SQLiteJobLimits = SQLiteJobLimits()
    ) throws {
        self.loop = loop
        thread = SQLiteThread(limits: limits)
        nonisolated(unsafe) let test = self
        try thread.start(
            path, access, schema: Entries.schema, on: loop,
            prepare: { file throws(SQLiteError) in try Entries(file) },
            opened: { test.opened = .some($0) })
    }

    /// Waits for the outcome of opening the file, and returns the error; nil if the file is open.
    func openingError() async throws -> SQLiteError? {
        try await loop.wait { self.opened != nil }
        return opened ?? nil
    }

    func submit(
        into outcomes: Outcomes = Outcomes(), _ body: @escaping (Entries) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        try thread.submit(EntryJob(on: loop, into: outcomes, body))
    }

    /// Submits a job that waits at the gate, so that later jobs share the next transaction. Waits until the job reaches
    /// the gate.
    func pause(
        at gate: Gate, into outcomes: Outcomes = Outcomes(),
        _ body: @escaping (Entries) throws(SQLiteError) -> Void = { _ in }
    ) async throws {
        try submit(into: outcomes) { entries throws(SQLiteError) in
            gate.pass()
            try body(entries)
        }
        try await loop.wait { gate.hasVisitor }
    }

    /// Submits an empty job, and returns the error of a refusal; nil if the job is accepted.
    func refusal(into outcomes: Outcomes) -> SQLiteError? {
        do throws(SQLiteError) {
            try submit(into: outcomes) { _ in }
            return nil
        } catch {
            return error
        }
    }

    /// Runs a job, and returns the code of its error; nil if it succeeds.
    func run(_ body: @escaping (Entries) throws(SQLiteError) -> Void) async throws -> SQLiteError.Code? {
        let outcomes = Outcomes()
        try submit(into: outcomes, body)
        try await loop.wait { outcomes.areComplete }
        return outcomes.codes[0]
    }

    func keys() async throws -> [Int64] {
        var keys: [Int64] = []
        let code = try await run { entries throws(SQLiteError) in keys = try entries.keys() }
        #expect(code == nil)
        return keys
    }

    func beginClosing() { thread.close(on: loop) {} }

    func close() async throws {
        nonisolated(unsafe) var isClosed = false
        thread.close(on: loop) { isClosed = true }
        try await loop.wait { isClosed }
    }
}

/// Keys in the order in which jobs ran.
private final class KeyLog: Sendable {
    private let lock = ThreadLock()
    private nonisolated(unsafe) var log: [Int64] = []

    func add(_ key: Int64) { lock.withLock { log.append(key) } }

    var keys: [Int64] { lock.withLock { log } }
}
