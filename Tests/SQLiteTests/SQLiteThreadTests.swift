import EventLoop
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

    /// A thread, used on a loop.
    private final class TestThread {
        private let thread: SQLiteThread<Entries>
        private let loop: EpollLoop
        private(set) var opened: SQLiteError??

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

        func submit(
            _ body: @escaping (Entries) throws(SQLiteError) -> Void, done: @escaping (SQLiteError?) -> Void = { _ in }
        ) throws(SQLiteError) {
            try thread.submit(EntryJob(on: loop, body, done: done))
        }

        /// Runs a job and waits for its outcome.
        func run(_ body: @escaping (Entries) throws(SQLiteError) -> Void) async throws -> SQLiteError? {
            var outcome: SQLiteError??
            try submit(body) { outcome = .some($0) }
            try await loop.wait { outcome != nil }
            return outcome ?? nil
        }

        func keys() async throws -> [Int64] {
            var keys: [Int64] = []
            #expect(try await run { entries throws(SQLiteError) in keys = try entries.keys() } == nil)
            return keys
        }

        func wait() async throws { try await loop.wait { self.opened != nil } }

        func close() async throws {
            nonisolated(unsafe) var isClosed = false
            thread.close(on: loop) { isClosed = true }
            try await loop.wait { isClosed }
        }
    }

    /// Runs a test with a writing thread.
    private func withWriter(
        _ limits: SQLiteJobLimits = SQLiteJobLimits(),
        _ body: @escaping @Sendable (EpollLoop, String, TestThread) async throws -> Void
    ) async throws {
        let path = path
        try await onEpollLoop { loop in
            let writer = try TestThread(path, on: loop, limits: limits)
            try await writer.wait()
            #expect(writer.opened == .some(nil))
            try await body(loop, path, writer)
            try await writer.close()
        }
    }

    // MARK: Order and transactions

    @Test func thousandsOfJobsKeepTheirOrder() async throws {
        try await withWriter { loop, _, writer in
            let count = 5000
            let run = KeyLog()
            var completed: [Int64] = []
            for key in 0..<Int64(count) {
                try writer.submit { entries throws(SQLiteError) in
                    run.add(key)
                    try entries.insert(key)
                } done: { error in
                    #expect(error == nil)
                    completed.append(key)
                }
            }
            try await loop.wait { completed.count == count }
            #expect(completed == Array(0..<Int64(count)))
            #expect(run.keys == completed)
            #expect(try await writer.keys() == completed)
        }
    }

    @Test func waitingJobsShareATransactionThatReadersDoNotSee() async throws {
        try await withWriter { loop, path, writer in
            let reader = try TestThread(path, .readOnly, on: loop)
            let (first, last) = (Gate(), Gate())
            try writer.submit { entries throws(SQLiteError) in
                first.pass()
                try entries.insert(0)
            }
            var completions = 0
            for key in 1...100 {
                try writer.submit { entries throws(SQLiteError) in
                    try entries.insert(Int64(key))
                    if key == 100 { last.pass() }
                } done: { _ in
                    completions += 1
                }
            }
            try await loop.wait { first.hasVisitor }
            #expect(try await reader.keys() == [])
            first.open()
            // The second transaction has written 100 entries and is not committed.
            try await loop.wait { last.hasVisitor }
            #expect(try await reader.keys() == [0])
            #expect(completions == 0)
            last.open()
            try await loop.wait { completions == 100 }
            #expect(try await reader.keys() == Array(0...100))
            try await reader.close()
        }
    }

    @Test func aJobWithRefusedDataLosesOnlyItsOwnChanges() async throws {
        try await withWriter { loop, _, writer in
            let gate = Gate()
            try writer.submit { entries throws(SQLiteError) in
                gate.pass()
                try entries.insert(500)
            }
            var codes: [SQLiteError.Code?] = []
            for key in Int64(0)..<1000 {
                try writer.submit { entries throws(SQLiteError) in
                    try entries.insert(key + 1000)
                    try entries.insert(key)
                } done: {
                    codes.append($0?.code)
                }
            }
            gate.open()
            try await loop.wait { codes.count == 1000 }
            #expect(codes.firstIndex(of: .constraint) == 500)
            #expect(codes.filter { $0 != nil }.count == 1)
            let expected = Array(Int64(0)..<1000) + (Int64(1000)..<2000).filter { $0 != 1500 }
            #expect(try await writer.keys() == expected)
        }
    }

    @Test func aReadFailsAlone() async throws {
        try await withWriter { loop, path, writer in
            #expect(try await writer.run { entries throws(SQLiteError) in try entries.insert(1) } == nil)
            let reader = try TestThread(path, .readOnly, on: loop)
            let gate = Gate()
            try reader.submit { _ in gate.pass() }
            var codes: [SQLiteError.Code?] = []
            let reads: [(Entries) throws(SQLiteError) -> Void] = [
                { entries throws(SQLiteError) in _ = try entries.keys() },
                { entries throws(SQLiteError) in try entries.insert(2) },
                { entries throws(SQLiteError) in _ = try entries.keys() },
            ]
            for read in reads { try reader.submit(read) { codes.append($0?.code) } }
            gate.open()
            try await loop.wait { codes.count == 3 }
            #expect(codes == [nil, .readOnly, nil])
            try await reader.close()
        }
    }

    @Test func aFullFileFailsTheTransactionAndTheThreadContinues() async throws {
        try await withWriter { loop, path, writer in
            #expect(
                try await writer.run { entries throws(SQLiteError) in
                    try entries.insert(1)
                    try entries.file.execute("PRAGMA max_page_count = 30")
                } == nil)
            let reader = try TestThread(path, .readOnly, on: loop)
            let gate = Gate()
            try writer.submit { _ in gate.pass() }
            var codes: [SQLiteError.Code?] = []
            for key in Int64(2)..<200 {
                try writer.submit { entries throws(SQLiteError) in
                    try entries.insert(key, bytes: 2000)
                } done: {
                    codes.append($0?.code)
                }
            }
            gate.open()
            try await loop.wait { codes.count == 198 }
            #expect(codes.allSatisfy { $0 == .full })
            #expect(try await reader.keys() == [1])
            // Space is available again.
            #expect(
                try await writer.run { entries throws(SQLiteError) in
                    try entries.file.execute("PRAGMA max_page_count = 1000")
                    try entries.insert(2, bytes: 200_000)
                } == nil)
            #expect(try await reader.keys() == [1, 2])
            try await reader.close()
        }
    }

    // MARK: The queue

    @Test func aFullQueueRefusesJobs() async throws {
        let limits = SQLiteJobLimits(jobsWaitingMax: 3, jobsPerTransactionMax: 2)
        try await withWriter(limits) { loop, _, writer in
            let gate = Gate()
            var completed: [Int64] = []
            try writer.submit { _ in gate.pass() }
            try await loop.wait { gate.hasVisitor }
            for key in Int64(1)...3 {
                try writer.submit { entries throws(SQLiteError) in
                    try entries.insert(key)
                } done: { _ in
                    completed.append(key)
                }
            }
            #expect {
                try writer.submit({ _ in }, done: { _ in Issue.record("a refused job completed") })
            } throws: {
                ($0 as? SQLiteError)?.code == .queueFull
            }
            gate.open()
            try await loop.wait { completed.count == 3 }
            #expect(completed == [1, 2, 3])
            #expect(try await writer.keys() == [1, 2, 3])
        }
    }

    @Test func completionsReturnToTheLoopOfTheirJob() async throws {
        try await withWriter { loop, _, writer in
            let thread = writer
            nonisolated(unsafe) let shared = thread
            try await onEpollLoop { other in
                var count = 0
                // `EntryJob` asserts that it completes on its loop.
                for key in Int64(0)..<50 {
                    try shared.submit(
                        EntryJob(on: other) { entries throws(SQLiteError) in
                            try entries.insert(key)
                        } done: { _ in
                            count += 1
                        })
                }
                try await other.wait { count == 50 }
            }
            #expect(try await writer.keys().count == 50)
        }
    }

    // MARK: Opening and closing

    @Test func jobsOfAFileThatCannotBeOpenedFail() async throws {
        let path = directory.file("missing/registrations.sqlite")
        try await onEpollLoop { loop in
            let writer = try TestThread(path, on: loop)
            var outcome: SQLiteError??
            // Refused, or failed if the thread has not yet attempted to open the file.
            do throws(SQLiteError) {
                try writer.submit({ _ in }, done: { outcome = .some($0) })
            } catch {
                outcome = error
            }
            try await loop.wait { outcome != nil && writer.opened != nil }
            #expect(outcome??.code == .cannotOpen)
            #expect(writer.opened??.code == .cannotOpen)
            #expect { try writer.submit { _ in } } throws: { ($0 as? SQLiteError)?.code == .cannotOpen }
            try await writer.close()
        }
    }

    @Test func closingInterruptsTheStatementAndCancelsTheRest() async throws {
        try await withWriter { loop, path, writer in
            #expect(try await writer.run { entries throws(SQLiteError) in try entries.insert(1) } == nil)
            let gate = Gate()
            var codes: [SQLiteError.Code?] = []
            try writer.submit { entries throws(SQLiteError) in
                try entries.insert(2)
                let endless = try entries.file.prepare(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
                gate.open()
                try endless.forEachRow { _ throws(SQLiteError) in gate.pass() }
            } done: {
                codes.append($0?.code)
            }
            for key in Int64(3)..<10 {
                try writer.submit { entries throws(SQLiteError) in
                    try entries.insert(key)
                } done: {
                    codes.append($0?.code)
                }
            }
            try await loop.wait { gate.hasVisitor }
            try await writer.close()
            #expect(codes.count == 8)
            #expect(codes.first == .interrupted)
            #expect(codes.allSatisfy { $0 == .interrupted || $0 == .closed })
            #expect { try writer.submit { _ in } } throws: { ($0 as? SQLiteError)?.code == .closed }
            // The lock is free, and the transaction was rolled back.
            let next = try TestThread(path, on: loop)
            #expect(try await next.keys() == [1])
            try await next.close()
        }
    }

    @Test func jobsThatWaitForTheRunningTransactionAreCancelled() async throws {
        try await withWriter { loop, path, writer in
            let gate = Gate()
            var codes: [SQLiteError.Code?] = []
            try writer.submit { entries throws(SQLiteError) in
                try entries.insert(1)
                gate.pass()
            } done: {
                codes.append($0?.code)
            }
            try await loop.wait { gate.hasVisitor }
            try writer.submit { entries throws(SQLiteError) in
                try entries.insert(2)
            } done: {
                codes.append($0?.code)
            }
            async let closed: Void = writer.close()
            gate.open()
            try await closed
            // The first job ended, with its transaction, before or after the thread learned that it must stop.
            #expect(codes.count == 2)
            #expect(codes.last == .closed)
            let next = try TestThread(path, on: loop)
            #expect(try await next.keys() == (codes.first == .some(nil) ? [1] : []))
            try await next.close()
        }
    }

    @Test func aThreadClosesWhileItOpensTheFile() async throws {
        let path = path
        try await onEpollLoop { loop in
            for _ in 0..<20 {
                let writer = try TestThread(path, on: loop)
                try await writer.close()
                try await writer.close()
                #expect(writer.opened == .some(nil))
            }
        }
    }
}

/// Keys in the order in which jobs ran.
private final class KeyLog: Sendable {
    private let lock = ThreadLock()
    private nonisolated(unsafe) var log: [Int64] = []

    func add(_ key: Int64) { lock.withLock { log.append(key) } }

    var keys: [Int64] { lock.withLock { log } }
}
