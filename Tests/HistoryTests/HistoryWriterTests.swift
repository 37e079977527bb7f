import ControlProtocol
import Crypto
import EventLoop
import Glibc
import SQLite
import TestKit
import Testing

@testable import History

/// The writing of a history: replays, damage, full disks, and crashes.
@Suite struct HistoryWriterTests {
    private let fixture: HistoryFixture

    init() throws {
        fixture = try HistoryFixture()
    }

    @Test func aReplayStoresNothingTwice() throws {
        let messages = Journal.accepted(5, count: 3)
        for _ in 0..<3 { try fixture.write(messages) }
        try fixture.withWriter { open in
            #expect(open.writer.nextOffset == 5)
            let progress = try open.write(messages)
            #expect(progress.rows == 0)
        }
        #expect(try fixture.ids().count == 15)
        // The same batch in a later message has no effect.
        let again = HistoryMessage(offset: 5, body: messages[4].body)
        try fixture.write([again])
        #expect(try fixture.ids().count == 15)
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [15])
    }

    @Test func aStreamThatIsDeclaredAgainIsReadFromItsStart() throws {
        try fixture.write(Journal.accepted(3, count: 2))
        try fixture.withWriter { open in
            try open.file.transaction { () throws(SQLiteError) in try open.writer.restartStream() }
        }
        try fixture.write(Journal.messages([[Journal.result(100)]], boot: 2))
        #expect(try fixture.ids().count == 7)
        // The number of the stream outlives the process.
        try fixture.write(Journal.messages([[Journal.result(100)], [Journal.result(101)]], boot: 2))
        #expect(try fixture.ids().count == 8)
    }

    @Test func segmentsBeyondTheMaximumAreDeletedWhole() throws {
        fixture.limits.segmentRowsMax = 4
        fixture.limits.bytesMax = 0
        try fixture.withWriter { open in
            for message in Journal.accepted(4, count: 4) { _ = try open.write([message]) }
        }
        #expect(fixture.folder.segmentNumbers == [3, 4])
        #expect(try fixture.ids() == (8..<16).reversed().map { Journal.uuid($0) })
        // The minute table outlives the rows.
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [16])
    }

    @Test func aFullDiskStopsIndexingAndHeals() throws {
        let messages = Journal.accepted(2, count: 2)
        try fixture.write([messages[0]])
        fixture.space = DiskSpace(freeBytes: 0, totalBytes: 1 << 40)
        try fixture.withWriter { open in
            let progress = try open.write(messages)
            #expect(progress.isDiskFull)
            #expect(progress.nextOffset == 1)
        }
        #expect(try fixture.ids().count == 2)
        fixture.space = DiskSpace(freeBytes: 1 << 39, totalBytes: 1 << 40)
        try fixture.withWriter { open in
            let progress = try open.write(messages)
            #expect(!progress.isDiskFull)
            #expect(progress.nextOffset == 2)
        }
        #expect(try fixture.ids().count == 4)
    }

    @Test func aDamagedSegmentPreventsNeitherIndexingNorQueries() throws {
        fixture.limits.segmentRowsMax = 2
        try fixture.withWriter { open in
            for message in Journal.accepted(3, count: 2) { _ = try open.write([message]) }
        }
        try fixture.directory.write("segment-2.sqlite", String(repeating: "damaged ", count: 2000))
        try fixture.write(Journal.accepted(1, count: 2, from: 3))
        #expect(try fixture.ids() == [7, 6, 5, 4, 1, 0].map { Journal.uuid($0) })
    }

    // MARK: Forged messages

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func mutatedMessagesChangeNothingElse(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let valid = Journal.messages([
            [Journal.result(1, user: Journal.user), Journal.wait(2), Journal.sample(3)]
        ])[0].body
        fixture.limits.segmentRowsMax = 100
        try fixture.withWriter { open in
            for offset in 0..<300 {
                var bytes = valid
                for _ in 0...random.below(3) where !bytes.isEmpty {
                    let place = random.below(bytes.count)
                    switch random.below(3) {
                    case 0: bytes[place] = UInt8(random.below(256))
                    case 1: bytes.remove(at: place)
                    default: bytes.insert(contentsOf: bytes[place...].prefix(random.below(20)), at: place)
                    }
                }
                #expect(
                    try open.write([HistoryMessage(offset: Int64(offset), body: bytes)]).nextOffset == Int64(offset) + 1
                )
            }
            _ = try open.write([
                HistoryMessage(offset: 300, body: Journal.messages([[Journal.result(500)]], boot: 9)[0].body)
            ])
        }
        #expect(try fixture.ids().first == Journal.uuid(500))
        _ = try fixture.read { reader throws(SQLiteError) in
            _ = try reader.gaps(in: 0...Int64.max, at: Journal.now)
            _ = try reader.deadLetterGroups(at: Journal.now)
        }
    }

    // MARK: Crashes

    @Test(arguments: HistoryWriter.Step.allCases)
    func aProcessThatIsKilledAtAnyStepLosesAndRepeatsNoRow(step: HistoryWriter.Step) async throws {
        let (path, step) = (fixture.directory.path, step.rawValue)
        // Later rounds continue behind earlier ones.
        for round in 1...2 {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, step = step as String, round = round as Int] in
                try Self.writeUntilKilled(path, step, round)
            }
        }
        fixture.limits.segmentRowsMax = 20
        try fixture.write(Journal.accepted(20, count: 5))
        #expect(try fixture.ids() == (0..<100).reversed().map { Journal.uuid($0) })
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [100])
    }

    private static func writeUntilKilled(_ path: String, _ step: String, _ round: Int) throws {
        var limits = HistoryLimits()
        limits.segmentRowsMax = 20
        let open = try OpenWriter(HistoryFolder(path), limits)
        // New segments are rare, so the first one counts.
        var left = step == HistoryWriter.Step.segmentCreated.rawValue ? 1 : 2
        open.writer.crashPoint = { reached in
            guard reached.rawValue == step else { return }
            left -= 1
            if left == 0 { kill(getpid(), SIGKILL) }
        }
        for message in Journal.accepted(20, count: 5) { _ = try open.write([message]) }
        open.close()
    }

    /// A kill at any time, also while SQLite writes: the alarm ends the process as SIGKILL does.
    @Test func aProcessThatIsKilledManyTimesLosesAndRepeatsNoRow() async throws {
        let path = fixture.directory.path
        var random = SeededRandom(seed: 48)
        for _ in 0..<Self.kills {
            let microseconds = 5000 + random.below(60_000)
            await #expect(processExitsWith: .signal(SIGALRM)) {
                [path = path as String, microseconds = microseconds as Int] in
                try Self.writeUntilAlarm(path, microseconds)
            }
        }
        var reached: Int64 = 0
        try fixture.withWriter { reached = $0.writer.nextOffset ?? 0 }
        // The processes were killed while they indexed.
        #expect(1..<Int64(Self.messages) ~= reached)
        fixture.limits.segmentRowsMax = Self.segmentRows
        try fixture.withWriter { open in
            let messages = Journal.accepted(Self.messages, count: 5)
            for first in stride(from: 0, to: messages.count, by: 200) {
                _ = try open.write(Array(messages[first..<first + 200]))
            }
        }
        #expect(try fixture.ids() == (0..<5 * Self.messages).reversed().map { Journal.uuid($0) })
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [5 * Self.messages])
    }

    private static let kills = LongForm.pick(100, short: 8)
    private static let messages = LongForm.pick(60_000, short: 5000)
    private static let segmentRows = 2000

    private static func writeUntilAlarm(_ path: String, _ microseconds: Int) throws {
        var limits = HistoryLimits()
        limits.segmentRowsMax = segmentRows
        let open = try OpenWriter(HistoryFolder(path), limits)
        let first = Int(open.writer.nextOffset ?? 0)
        let next = Journal.accepted(500, count: 5, from: first)
        var interval = itimerval()
        interval.it_value.tv_usec = microseconds
        guard setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &interval, nil) == 0 else { return }
        for message in next { _ = try open.write([message]) }
        // A fast disk: wait for the alarm.
        while true { pause() }
    }
}
