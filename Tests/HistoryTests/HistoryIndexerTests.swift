import EventLoop
import Glibc
import SQLite
import TestKit
import Testing

@testable import History

/// Indexing on a thread.
@Suite struct HistoryIndexerTests {
    @Test func messagesAreIndexedInTheBackgroundAndContinueAfterARestart() async throws {
        let fixture = try HistoryFixture()
        let folder = fixture.folder
        for round in 0..<2 {
            let next = try await onEpollLoop { loop in
                let indexer = HistoryIndexer(folder, HistoryFixture.keys, on: loop)
                let opened = Completion<Int64?>()
                try indexer.start { opened.result = $0 }
                try await loop.wait { opened.result != nil }
                #expect(try opened.result?.get() == (round == 0 ? nil : 3))
                let written = Completion<HistoryProgress>()
                indexer.write(Journal.accepted(3 * (round + 1), count: 2), at: Journal.now) { written.result = $0 }
                try await loop.wait { written.result != nil }
                let closed = Completion<Void>()
                indexer.close { closed.result = .success(()) }
                try await loop.wait { closed.result != nil }
                return try written.result?.get().nextOffset
            }
            #expect(next == Int64(3 * (round + 1)))
        }
        #expect(try fixture.ids() == (0..<12).reversed().map { Journal.uuid($0) })
    }

    /// A failed transaction must leave nothing in memory that the file lacks.
    @Test func aFailedTransactionIsRepeatedWhole() async throws {
        let fixture = try HistoryFixture()
        let folder = fixture.folder
        try await onEpollLoop { loop in
            let indexer = HistoryIndexer(folder, HistoryFixture.keys, on: loop)
            let opened = Completion<Int64?>()
            try indexer.start { opened.result = $0 }
            try await loop.wait { opened.result != nil }
            func write(_ messages: [HistoryMessage]) async throws -> Result<HistoryProgress, SQLiteError>? {
                let written = Completion<HistoryProgress>()
                indexer.write(messages, at: Journal.now) { written.result = $0 }
                try await loop.wait { written.result != nil }
                return written.result
            }
            // A folder at the place of the first segment makes it fail.
            let path = folder.segmentPath(1)
            #expect(mkdir(path, 0o700) == 0)
            let failed = try await write(Journal.accepted(2, count: 2))
            #expect(throws: SQLiteError.self) { _ = try failed?.get() }
            #expect(rmdir(path) == 0)
            #expect(try await write(Journal.accepted(2, count: 2))?.get().rows == 4)
            let closed = Completion<Void>()
            indexer.close { closed.result = .success(()) }
            try await loop.wait { closed.result != nil }
        }
        #expect(try fixture.ids().count == 4)
    }

    /// The result of a call, set on the loop.
    private final class Completion<Value>: @unchecked Sendable {
        // `@unchecked Sendable`: only the loop uses it.
        var result: Result<Value, SQLiteError>?
    }
}
