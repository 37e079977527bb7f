import ControlProtocol
import Crypto
import SQLite
import TestKit
import Testing

@testable import History

/// Erasures, checked in the bytes of all files.
@Suite struct HistoryErasureTests {
    private static let count = 6000
    private static let other = "ff" + Journal.token.dropFirst(2)

    private let fixture: HistoryFixture

    init() throws {
        fixture = try HistoryFixture()
    }

    /// The numbers of the erased person's requests, among those of others.
    private static let numbers = Array(stride(from: 0, to: count, by: 3))

    /// Lines of one person with several devices, among those of others. The keys of the indexes are in random order,
    /// so that SQLite splits pages.
    private static func messages(from first: Int = 0, boot: Int = 1) -> [HistoryMessage] {
        let lines = (0..<count).map { number in
            number % 3 == 0
                ? Journal.result(number, token: token(number), user: Journal.user)
                : Journal.result(number, token: String(token(number).reversed()), user: "other-\(number)")
        }
        let batches = stride(from: 0, to: count, by: 200).map { Array(lines[$0..<$0 + 200]) }
        let others = [Journal.wait(0), Journal.wait(1), Journal.sample(0)]
        return Journal.messages(batches + [others], from: first, boot: boot)
    }

    /// A token whose first 40 bits are different from those of the other tokens and ids.
    private static func token(_ number: Int) -> String {
        String(UInt64(number + 1) &* 0xBF58_476D_1CE4_E5B9, radix: 16).padded(to: 16, with: "5")
            + Journal.token.dropFirst(16)
    }

    // MARK: Bytes

    /// The bytes of all files.
    private func bytes() throws -> [UInt8] {
        try Files.names(in: fixture.directory.path).flatMap { try Files.bytes(of: fixture.directory.file($0)) }
    }

    /// Returns the number of needles that the bytes contain. All needles have the same length.
    private static func hits(_ needles: Set<[UInt8]>, in bytes: [UInt8]) -> Int {
        guard let length = needles.first?.count, bytes.count >= length else { return 0 }
        // Most places differ from all needles in their first two bytes, so few places are hashed.
        var starts = [Bool](repeating: false, count: 1 << 16)
        for needle in needles { starts[Int(needle[0]) << 8 | Int(needle[1])] = true }
        return bytes.withUnsafeBufferPointer { bytes in
            var (hits, place) = (0, 0)
            while place <= bytes.count - length {
                if starts[Int(bytes[place]) << 8 | Int(bytes[place + 1])],
                    needles.contains(Array(bytes[place..<place + length]))
                {
                    hits += 1
                }
                place += 1
            }
            return hits
        }
    }

    /// The random halves of the ids, as columns and indexes contain them.
    private static let ids = Set(
        numbers.map { number in withUnsafeBytes(of: Journal.uuid(number).low.bigEndian) { Array($0) } })
    /// The first 40 bits of the tokens, as columns and indexes contain them: in six bytes.
    private static let prefixes = Set(
        numbers.map { number in
            withUnsafeBytes(of: (UInt64(token(number).prefix(10), radix: 16) ?? 0).bigEndian) { Array($0.dropFirst(2)) }
        })

    @Test(arguments: [1, 4]) func noByteOfAUserRemains(segments: Int) throws {
        fixture.limits.segmentRowsMax = Self.count / segments
        try fixture.withWriter { open in for message in Self.messages() { _ = try open.write([message]) } }
        let before = try bytes()
        #expect(Self.hits(Self.ids, in: before) > Self.numbers.count)
        #expect(Self.hits(Self.prefixes, in: before) >= Self.numbers.count)

        let outcome = try fixture.erase(.user(Journal.user))
        #expect(outcome.rows == Self.numbers.count + 1 && outcome.unreadableSegments.isEmpty)
        let after = try bytes()
        // The id of a request that waits remains for the count of waits.
        let wait = withUnsafeBytes(of: Journal.uuid(0).low.bigEndian) { Array($0) }
        #expect(Self.hits(Self.ids.subtracting([wait]), in: after) == 0)
        #expect(Self.hits(Self.prefixes, in: after) == 0)
        // The requests of others, and both waits.
        #expect(try fixture.ids().count == Self.count - Self.numbers.count + 2)

        // The stream is read again from its start: by the same console, and by one whose index knows no batch.
        try fixture.withWriter { open in
            try open.file.transaction { () throws(SQLiteError) in try open.writer.restartStream() }
            for message in Self.messages() { _ = try open.write([message]) }
        }
        try fixture.withWriter { open in
            for message in Self.messages(from: 1000, boot: 2) { _ = try open.write([message]) }
            let replayed = try bytes()
            #expect(Self.hits(Self.prefixes, in: replayed) == 0)
            for text in [Journal.user, Journal.token, Self.token(0), Self.token(3)] {
                #expect(Self.hits([Array(text.utf8)], in: replayed) == 0)
            }
        }
        #expect(try fixture.ids(.user(Journal.user)).isEmpty)
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [2 * Self.count])
    }

    /// An erased request is in no file, although it waits.
    @Test func noByteOfARequestRemains() throws {
        let batches = stride(from: 0, to: 2000, by: 100).map { first in
            (first..<first + 100).map { Journal.wait($0) }
        }
        try fixture.write(Journal.messages(batches))
        let victims = stride(from: 50, to: 2000, by: 100).map { Journal.uuid($0) }
        let needles = Set(victims.map { id in withUnsafeBytes(of: id.low.bigEndian) { Array($0) } })
        #expect(Self.hits(needles, in: try bytes()) > victims.count)
        for id in victims { #expect(try fixture.erase(.id(id)).rows == 1) }
        #expect(Self.hits(needles, in: try bytes()) == 0)
        let waiting = try fixture.read { reader throws(SQLiteError) in try reader.openWaits().map(\.count) }
        #expect(waiting == [2000 - victims.count])
        try fixture.write(Journal.messages(batches, from: batches.count, boot: 2))
        #expect(Self.hits(needles, in: try bytes()) == 0)
    }

    // MARK: Rows

    @Test(arguments: [
        HistorySubject.token(Journal.token), .token(Journal.token.uppercased()), .user(Journal.user),
        .id(Journal.uuid(1)),
    ])
    func anErasureRemovesRowsAlsoAfterAReplay(subject: HistorySubject) throws {
        fixture.limits.segmentRowsMax = 2
        let line = Journal.result(1, user: Journal.user)
        let other = Journal.result(2, token: Self.other, user: "bob")
        let messages = Journal.messages([[line, other], [Journal.sample(1), Journal.sample(3)]])
        try fixture.withWriter { open in for message in messages { _ = try open.write([message]) } }
        #expect(fixture.folder.segmentNumbers == [1, 2])
        #expect(try fixture.erase(subject).rows == (subject == .id(Journal.uuid(1)) ? 2 : 3))
        #expect(try fixture.ids() == [Journal.uuid(2)])
        // A replay by another process, whose batches have other numbers.
        try fixture.write(
            Journal.messages([[line, other], [Journal.sample(1)]], from: 2, boot: 2))
        #expect(try fixture.ids() == [Journal.uuid(2), Journal.uuid(2)])
        // A later push to the same device is stored.
        let later = Journal.result(9, user: Journal.user, at: Journal.now + 1)
        try fixture.write(Journal.messages([[later]], from: 4, boot: 3))
        #expect(try fixture.ids().first == Journal.uuid(9))
    }

    /// A truncated sample may contain a token or user that the history cannot read. The headers of the request to a
    /// device of a user, or a list in the body, may name the user.
    @Test(
        arguments: [HistorySubject.token(Journal.token), .user("bob"), .id(Journal.uuid(9))],
        ["{", #"{"device_token":"\#(Journal.token)","payload":{}}"#, #"{"user":"ann","users":["bob"],"payload":{}}"#])
    func samplesThatMayNameTheSubjectAreErased(subject: HistorySubject, body: String) throws {
        guard case .dead(var sample) = Journal.sample(1) else { return }
        sample.body = Array(body.utf8)
        sample.headers = [.init("push-user", "bob")]
        let messages = Journal.messages([[.dead(sample), Journal.result(2, outcome: "rejected", error: "BadTopic")]])
        try fixture.write(messages)
        func samples() throws -> Int {
            try fixture.read { reader throws(SQLiteError) in
                var count = 0
                for group in try reader.deadLetterGroups(at: Journal.now) {
                    count += try reader.samples(of: group.number).count
                }
                return count
            }
        }
        #expect(try samples() == 1)
        _ = try fixture.erase(subject)
        let isKept = subject == .id(Journal.uuid(9))
        #expect(try samples() == (isKept ? 1 : 0))
        try fixture.write(Journal.messages([[.dead(sample)]], from: 1, boot: 2))
        #expect(try samples() == (isKept ? 1 : 0))
    }

    @Test func aDamagedSegmentIsReported() throws {
        fixture.limits.segmentRowsMax = 2
        try fixture.withWriter { open in
            for message in Journal.accepted(3, count: 2) { _ = try open.write([message]) }
        }
        try fixture.directory.write("segment-2.sqlite", String(repeating: "damaged ", count: 2000))
        let outcome = try fixture.erase(.token(Journal.token))
        #expect(outcome.rows == 4 && outcome.unreadableSegments == [2])
    }

    @Test func aMissingHistoryIsNotCreated() throws {
        let error = #expect(throws: SQLiteError.self) { _ = try fixture.erase(.user("bob")) }
        #expect(error?.code == .missing)
        #expect(try Files.names(in: fixture.directory.path).isEmpty)
    }

    /// The files of a running console cannot be erased.
    @Test func anOpenHistoryIsInUse() throws {
        try fixture.withWriter { _ in
            let error = #expect(throws: SQLiteError.self) { _ = try fixture.erase(.user("bob")) }
            #expect(error?.code == .inUse)
        }
    }

    /// A process that ends between the deletion and the rebuilding leaves a mark, with which the repeat rebuilds.
    @Test func aRepeatRemovesTheRemainingBytes() throws {
        try fixture.write(Self.messages())
        let file = try SQLiteFile.open(fixture.folder.segmentPath(1), .readWrite, schema: .segment)
        try file.execute(
            """
            DELETE FROM line WHERE n % 3 = 1;
            INSERT INTO meta (name, value) VALUES ('must_rebuild', 1)
            """)
        file.close()
        // The request 0 waits, and has a sample.
        let ids = Self.ids.subtracting([withUnsafeBytes(of: Journal.uuid(0).low.bigEndian) { Array($0) }])
        #expect(Self.hits(ids, in: try bytes()) > 0)
        #expect(try fixture.erase(.token(Self.other)).rows == 0)
        #expect(Self.hits(ids, in: try bytes()) == 0)
    }
}

extension String {
    fileprivate func padded(to length: Int, with digit: String) -> String {
        self + String(repeating: digit, count: max(0, length - count))
    }
}
