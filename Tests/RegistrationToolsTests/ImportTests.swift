import APNSProtocol
import Crypto
import EventLoop
import Glibc
import Registrations
import TestKit
import Testing

@testable import RegistrationTools

@Suite struct ImportTests {
    @Test func `All lines of a file are stored, and nothing remains beside it`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<1000))
            let (end, counts) = try await harness.run()
            #expect(end == .complete)
            #expect(counts.outcomes == [.stored: 1000] && counts.rejectedCount == 0)
            #expect(harness.users.count == 1000)
            #expect(harness.checkpoint == nil && harness.rejects == [])
        }
    }

    @Test func `Ends of an export are restored, and those of another index key are rejects`() async throws {
        try await onEpollLoop { loop in
            let mark = StoredEnd.mark(
                EndMark(key: UUIDValue(high: 1, low: 2), at: 1_749_000_000_000, isPermanent: true))
            let tombstone = StoredEnd.tombstone(
                Registration(
                    key: Registration.Key(token: UUIDValue(high: 3, low: 4), slot: UUIDValue(high: 5, low: 6)),
                    app: ImportHarness.app, environment: .sandbox, kind: .voip, registeredAt: 7,
                    deviceKey: UUIDValue(high: 8, low: 9), state: .ended(at: 1_749_000_000_001)))
            func line(_ end: StoredEnd, _ key: String) -> String {
                String(decoding: end.line(indexKey: key), as: UTF8.self) + "\n"
            }
            let key = ImportHarness.indexKey
            let text =
                line(mark, key) + line(tombstone, "00000000") + #"{"end":"tombstone","index_key":"\#(key)"}"# + "\n"
                + line(tombstone, key)
            let harness = try ImportHarness(on: loop, text)
            let (end, counts) = try await harness.run()
            #expect(end == .complete && counts.outcomes == [.ended: 2] && counts.rejectedCount == 2)
            #expect(harness.store.marks.values.map { StoredEnd.mark($0) } == [mark])
            #expect(harness.store.rows.values.map { StoredEnd.tombstone($0) } == [tombstone])
            #expect(harness.rejects.count == 2 && harness.rejects[0].contains("another index key"))
            #expect(try await harness.run().counts.outcomes == [.unchanged: 2])
        }
    }

    @Test func `Another import of the file changes nothing`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<300))
            _ = try await harness.run()
            let rows = harness.store.rows
            #expect(try await harness.run().counts.outcomes == [.unchanged: 300])
            let isUnchanged = harness.store.rows == rows
            #expect(isUnchanged)
        }
    }

    @Test func `Line ends may be CRLF, and the last line needs none`() async throws {
        try await onEpollLoop { loop in
            let text = (ImportHarness.header + ImportHarness.lines(0..<3)).replacing("\n", with: "\r\n")
            let harness = try ImportHarness(on: loop, String(text.dropLast(1)))
            #expect(try await harness.run().end == .complete)
            #expect(harness.users == ["user0", "user1", "user2"])
        }
    }

    @Test func `Faulty lines are in the rejects with number and reason, and only the owner can read them`()
        async throws
    {
        try await onEpollLoop { loop in
            let long = String(repeating: "x", count: 1 << 20)
            let text =
                ImportHarness.header + "ann,com.example.app,0x,1749000000000\n" + ImportHarness.lines(0..<300) + long
                + "\nann,com.example.app\n" + ImportHarness.lines(300..<301)
            let harness = try ImportHarness(on: loop, text)
            let (end, counts) = try await harness.run()
            #expect(end == .complete && counts.rejectedCount == 3 && counts.outcomes == [.stored: 301])
            let lines = harness.rejects.map { String($0.prefix(12)) }
            #expect(lines == [#"{"line":2,"c"#, #"{"line":303,"#, #"{"line":304,"#])
            #expect(harness.rejects[0].contains(#""path":"/device_token""#))
            #expect(harness.rejects[1].contains(#""class":"size""#))
            var status = stat()
            #expect(stat(harness.file + ".rejects", &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func `A dry run changes neither store nor checkpoint, and writes the rejects`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + "x\n" + ImportHarness.lines(0..<600))
            let (end, counts) = try await harness.run(isDryRun: true)
            #expect(end == .complete && counts.validCount == 600 && counts.rejectedCount == 1)
            #expect(harness.store.rows.isEmpty && harness.rejects.count == 1 && harness.checkpoint == nil)
        }
    }

    @Test(arguments: [0, 1, 2, 3, 5])
    func `An import that was killed at a batch and resumed gives the same rows and rejects`(batch: Int) async throws {
        try await onEpollLoop { loop in
            let text =
                ImportHarness.header + "x\n" + ImportHarness.lines(0..<700) + "y\n" + ImportHarness.lines(700..<1300)
                + "z\n"
            let whole = try ImportHarness(on: loop, text)
            let expected = try await whole.run()
            let harness = try ImportHarness(on: loop, text)
            var batches = 0
            let killed = FilteredWriter(harness.store.writer()) { _ in
                defer { batches += 1 }
                return batches >= batch ? .hold : .pass
            }
            harness.writer = killed
            let first = Task(executorPreference: loop) { [harness = SendableBox(harness)] in
                _ = try await harness.value.run()
            }
            try await loop.wait { !killed.held.isEmpty }
            // The checkpoint may be behind the stored batches, since the import does not write it after each batch.
            #expect((harness.checkpoint?.line ?? 0) <= batch * CommandBatch.commandsMax)
            harness.writer = harness.store.writer()
            let (end, counts) = try await harness.run(resumes: true)
            #expect(end == .complete && counts.rejectedCount == expected.counts.rejectedCount)
            #expect(counts.outcomes.values.reduce(0, +) == 1300)
            let hasSameUsers = harness.users == whole.users
            #expect(hasSameUsers)
            #expect(harness.rejects == whole.rejects && harness.rejects.count == 3)
            killed.failHeld()
            try await first.value
        }
    }

    @Test func `A stopped import continues after its checkpoint`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<1500))
            let (end, counts) = try await harness.run(isStopped: { harness.store.rows.count >= 700 })
            #expect(end == .stopped && harness.checkpoint?.counts == counts)
            var applied = 0
            harness.writer = FilteredWriter(harness.store.writer()) { commands in
                applied += commands.count
                return .pass
            }
            #expect(try await harness.run(resumes: true).counts.outcomes == [.stored: 1500])
            #expect(applied == 1500 - (counts.outcomes[.stored] ?? 0))
            #expect(harness.checkpoint == nil)
        }
    }

    @Test func `A changed file is not resumed`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<1000))
            _ = try await harness.run(isStopped: { !harness.store.rows.isEmpty })
            try harness.folder.write("users.csv", ImportHarness.header + ImportHarness.lines(1..<1001))
            guard case .failed(let error) = try await harness.run(resumes: true).end else {
                return #expect(Bool(false), "the import resumed")
            }
            #expect(error.description.contains("without --resume"))
            #expect(try await harness.run().end == .complete)
            #expect(harness.users.count == 1001)
        }
    }

    @Test func `An import is not resumed in another store`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<1000))
            _ = try await harness.run(isStopped: { !harness.store.rows.isEmpty })
            let checkpoint = harness.checkpoint
            for (indexKey, location) in [("ffffffff", ""), (ImportHarness.indexKey, "sqlite:/var/lib/other.db")] {
                let end = try await harness.run(resumes: true, indexKey: indexKey, location: location).end
                guard case .failed(let error) = end else { return #expect(Bool(false), "the import resumed") }
                #expect(error.description.contains("without --resume"))
            }
            #expect(harness.checkpoint == checkpoint)
            #expect(try await harness.run(resumes: true).end == .complete)
        }
    }

    @Test func `Without a checkpoint, a resumed import begins at the first line`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<10))
            #expect(try await harness.run(resumes: true).counts.outcomes == [.stored: 10])
        }
    }

    @Test func `A command that the store refuses is rejected alone`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<600))
            harness.writer = FilteredWriter(harness.store.writer()) { commands in
                commands.contains { command in
                    if case .register(let registration) = command { registration.user == "user300" } else { false }
                } ? .refuse(StoreFault(.data, "value refused", errorClass: "22")) : .pass
            }
            let (end, counts) = try await harness.run()
            #expect(end == .complete && counts.outcomes == [.stored: 599])
            #expect(harness.rejects == [#"{"line":302,"class":"store","code":"22","message":"value refused"}"#])
        }
    }

    @Test func `An import waits for a store that became unreachable`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<600))
            var batches = 0
            harness.writer = FilteredWriter(harness.store.writer()) { _ in
                batches += 1
                return batches == 2 ? .refuse(StoreFault(.unreachable, "connection lost")) : .pass
            }
            #expect(try await harness.run().counts.outcomes == [.stored: 600])
        }
    }

    @Test func `A store that needs an operator ends the import, which continues later`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, ImportHarness.header + ImportHarness.lines(0..<1500))
            let fault = StoreFault(.refused, "the disk is full")
            var batches = 0
            harness.writer = FilteredWriter(harness.store.writer()) { _ in
                batches += 1
                return batches > 3 ? .refuse(fault) : .pass
            }
            #expect(try await harness.run().end == .storeFailed(fault))
            #expect(harness.checkpoint?.line == 3 * CommandBatch.commandsMax)
            harness.writer = harness.store.writer()
            #expect(try await harness.run(resumes: true).end == .complete)
            #expect(harness.users.count == 1500)
        }
    }

    @Test func `A file that is not a regular file, and a missing one, are refused`() async throws {
        try await onEpollLoop { loop in
            let harness = try ImportHarness(on: loop, "")
            for path in [harness.folder.path, harness.folder.file("missing")] {
                var reader: Result<Void, ImportError> = .success(())
                do throws(ImportError) { _ = try ImportReader(path) } catch { reader = .failure(error) }
                #expect(throws: ImportError.self) { try reader.get() }
            }
        }
    }

    @Test func `The progress has share, rate and time left`() {
        let progress = ImportProgress(size: 1000, begin: (bytes: 0, line: 0))
        #expect(
            progress.text(bytes: 500, line: 50, after: .seconds(10))
                == "━━━━━━━━━━━━────────────  50 %  line 50  5/s  10s left")
        let resumed = ImportProgress(size: 1000, begin: (bytes: 500, line: 50))
        #expect(resumed.text(bytes: 750, line: 75, after: .seconds(5)).hasSuffix("75 %  line 75  5/s  5s left"))
        #expect(resumed.text(bytes: 500, line: 50, after: .zero).hasSuffix("50 %  line 50  0/s"))
        #expect(ImportProgress(size: nil, begin: (0, 0)).text(bytes: 9, line: 3, after: .seconds(1)) == "line 3  3/s")
    }
}

/// A value that a task of the same loop uses. `@unchecked Sendable`: all uses are on the loop.
private struct SendableBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
