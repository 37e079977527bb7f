import Crypto
import Delivery
import JSON
import Testing

@testable import ControlProtocol

/// The format of the record of the fleet's pauses, and the changes that operators apply.
@Suite struct PauseRecordTests {
    private static let now = FleetSamples.now
    private static let day: Int64 = 24 * 3_600_000
    private static let shop = PauseScope.topic("com.example.shop")

    private static func record(_ json: String) throws -> PauseRecord { try PauseRecord(json: Array(json.utf8)) }

    private static func violation(_ change: PauseRecord.Change, of record: PauseRecord) -> PauseViolation.Code? {
        do throws(PauseViolation) {
            _ = try record.applying(change, at: now)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func aRecordIsReadAsWritten() throws {
        let pauses = [
            FleetSamples.pause(Self.shop, until: Self.now + 7_200_000), FleetSamples.pause(.everything, by: "bob"),
            FleetSamples.pause(.key("ABC123DEFG")), FleetSamples.pause(.certificate("com.example shop")),
        ]
        let record = FleetSamples.record(18, pauses)
        #expect(try PauseRecord(json: record.json) == record)
        let first = try PauseRecord(json: FleetSamples.record(18, [pauses[0]]).json)
        #expect(
            String(decoding: first.json, as: UTF8.self) == """
                {"type":"push.pauses.v1","series":"\(FleetSamples.series)","revision":18,\
                "change":"pause topic com.example.shop","pauses":[{"scope":"topic com.example.shop","by":"alice",\
                "why":"wrong campaign","since":1764300000000,"until":1764307200000}]}
                """)
    }

    @Test(arguments: [
        PauseScope.everything, .key("everything"), .topic("a b  c"), .certificate("\u{301}x"), .topic("key K"),
        .key(" "),
    ])
    func aScopeIsItsDescription(scope: PauseScope) {
        #expect(PauseScope(scope.description) == scope)
    }

    @Test(arguments: ["", "all", "key", "key ", "topics a", "Key K", " everything", "everything "])
    func otherTextsAreNoScopes(text: String) {
        #expect(PauseScope(text) == nil)
    }

    @Test func unknownMembersAreIgnored() throws {
        let record = try Self.record(
            """
            {"later":[{}],"type":"push.pauses.v1","series":"\(FleetSamples.series)","revision":1,"change":"c",\
            "pauses":[{"scope":"everything","by":"a","why":"w","since":1764300000000,"later":1}]}
            """)
        #expect(record.pauses == [FleetSamples.pause(.everything, by: "a", why: "w")])
    }

    @Test(arguments: [
        (#""revision":18"#, #""revision":-1"#, "revision"), (#""revision":18,"#, "", "revision"),
        ("push.pauses.v1", "push.pauses.v2", "type"), (#""series":"0"#, #""series":"x"#, "series"),
        ("topic com", "topics com", "scope"), (#""by":"alice""#, #""by":"""#, "by"),
        (#""by":"alice""#, #""by":" ""#, "by"), (#""why":"wrong campaign","#, "", "why"),
        ("wrong campaign", #"wrong\u001b[2J"#, "why"), ("1764300000000", "1764300000", "since"),
        ("1764307200000", "1764300000000", "until"), ("1764307200000", "1766892000001", "until"),
        (#""pauses":["#, #""pauses":1,"other":["#, "pauses"), (#""change":"p"#, #""change":["p"],"c":""#, "change"),
        ("}]}", "}]", "JSON"),
    ])
    func aMalformedRecordIsRefusedByTheNameOfTheMember(part: String, replacement: String, name: String) throws {
        let valid = String(
            decoding: FleetSamples.record(18, [FleetSamples.pause(Self.shop, until: Self.now + 7_200_000)]).json,
            as: UTF8.self)
        let malformed = valid.replacing(part, with: replacement)
        try #require(malformed != valid)
        let error = #expect(throws: InputError.self) { try Self.record(malformed) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test func aRecordWithTooManyOrRepeatedPausesIsRefused() {
        let many = (0...FleetLimits.pausesMax).map { FleetSamples.pause(.topic("t\($0)")) }
        #expect(throws: InputError("pauses must have at most 64 elements", node: nil)) {
            do throws(InputError) {
                _ = try PauseRecord(json: FleetSamples.record(1, many).json)
            } catch {
                throw InputError(error.message)
            }
        }
        let twice = [FleetSamples.pause(Self.shop), FleetSamples.pause(Self.shop, by: "bob")]
        #expect(throws: InputError.self) { try PauseRecord(json: FleetSamples.record(1, twice).json) }
        let spaces = [UInt8](repeating: UInt8(ascii: " "), count: FleetLimits.recordBytesMax)
        #expect(throws: InputError.self) { try PauseRecord(json: FleetSamples.record(1, []).json + spaces) }
    }

    @Test func aPauseReplacesTheEarlierPauseOfItsScope() throws {
        let first = try PauseRecord(first: FleetSamples.series).applying(.pause(FleetSamples.pause(Self.shop)), at: 0)
        #expect(first.change == "pause topic com.example.shop")
        let pause = FleetSamples.pause(Self.shop, by: "bob", why: "still wrong")
        let second = try first.applying(.pause(pause), at: Self.now)
        #expect(second.revision == PauseRevision(series: FleetSamples.series, number: 2))
        #expect(second.pauses == [pause])
        let third = try second.applying(.resume(Self.shop), at: Self.now)
        #expect(third.change == "resume topic com.example.shop")
        #expect(third.revision.number == 3 && third.pauses.isEmpty)
    }

    @Test func aChangeWithoutEffectIsAViolation() throws {
        let record = FleetSamples.record(1, [FleetSamples.pause(Self.shop)])
        #expect(Self.violation(.resume(.everything), of: record) == .notPaused)
        #expect(
            Self.violation(.pause(FleetSamples.pause(Self.shop, since: Self.now + 5)), of: record) == .alreadyPaused)
        let ended = FleetSamples.record(1, [FleetSamples.pause(Self.shop, since: Self.now - 9, until: Self.now)])
        #expect(Self.violation(.resume(Self.shop), of: ended) == .notPaused)
    }

    @Test func invalidPausesAreViolations() {
        let record = PauseRecord(first: FleetSamples.series)
        let cases: [(FleetPause, PauseViolation.Code?)] = [
            (FleetSamples.pause(Self.shop, by: ""), .by),
            (FleetSamples.pause(Self.shop, by: String(repeating: "é", count: 100)), nil),
            (FleetSamples.pause(Self.shop, by: String(repeating: "é", count: 100) + "x"), .by),
            (FleetSamples.pause(Self.shop, why: ""), .why),
            (FleetSamples.pause(Self.shop, why: String(repeating: "x", count: 501)), .why),
            (FleetSamples.pause(Self.shop, why: "a\nb"), .why),
            (FleetSamples.pause(.topic("")), .scope),
            (FleetSamples.pause(.topic(String(repeating: "x", count: 300))), .scope),
            (FleetSamples.pause(Self.shop, since: 1_764_300_000), .since),
            (FleetSamples.pause(Self.shop, until: Self.now + 30 * Self.day), nil),
            (FleetSamples.pause(Self.shop, until: Self.now + 30 * Self.day + 1), .until),
            (FleetSamples.pause(Self.shop, since: Self.now - 9, until: Self.now), .until),
            (FleetSamples.pause(Self.shop, since: Self.now - 9, until: Self.now + 1), nil),
            (FleetSamples.pause(Self.shop, until: .min), .until), (FleetSamples.pause(Self.shop, until: .max), .until),
        ]
        for (pause, code) in cases { #expect(Self.violation(.pause(pause), of: record) == code, "\(pause)") }
    }

    @Test func aRecordHoldsA64Pauses() throws {
        var record = PauseRecord(first: FleetSamples.series)
        for number in 0..<FleetLimits.pausesMax {
            record = try record.applying(.pause(FleetSamples.pause(.topic("t\(number)"))), at: Self.now)
        }
        #expect(try PauseRecord(json: record.json) == record)
        #expect(Self.violation(.pause(FleetSamples.pause(Self.shop)), of: record) == .tooManyPauses)
        #expect(Self.violation(.pause(FleetSamples.pause(.topic("t7"), by: "bob")), of: record) == nil)
    }

    @Test func aRecordThatWouldBeTooLargeIsAViolation() throws {
        var record = PauseRecord(first: FleetSamples.series)
        var violation: PauseViolation.Code?
        for number in 0..<FleetLimits.pausesMax where violation == nil {
            // The writer escapes each quote with two bytes.
            let why = String(repeating: "\"", count: FleetLimits.whyBytesMax)
            let change = PauseRecord.Change.pause(FleetSamples.pause(.topic("t\(number)"), why: why))
            violation = Self.violation(change, of: record)
            if violation == nil { record = try record.applying(change, at: Self.now) }
        }
        #expect(violation == .tooLarge)
        #expect(try PauseRecord(json: record.json) == record)
    }

    @Test func theLastRevisionHasNoSuccessor() {
        let record = FleetSamples.record(FleetLimits.numberMax, [])
        #expect(Self.violation(.pause(FleetSamples.pause(Self.shop)), of: record) == .lastRevision)
    }

    @Test func endedPausesAreNotInForceAndAreDropped() throws {
        let record = FleetSamples.record(
            4,
            [
                FleetSamples.pause(.key("A"), until: Self.now + 1), FleetSamples.pause(.key("B"), until: Self.now + 2),
                FleetSamples.pause(.key("C"), since: Self.now + Self.day),
            ])
        #expect(record.inForce(at: Self.now + 1).map(\.scope) == [.key("B"), .key("C")])
        let next = try record.applying(.resume(.key("C")), at: Self.now + 1)
        #expect(next.pauses.map(\.scope) == [.key("B")])
    }

    @Test func aRevisionSupersedesLowerOnesAndOtherSeries() {
        let known = PauseRevision(series: FleetSamples.series, number: 5)
        func next(_ number: Int, _ series: UUIDValue = FleetSamples.series) -> PauseRevision {
            PauseRevision(series: series, number: number)
        }
        #expect(next(6).supersedes(known))
        #expect(!next(5).supersedes(known) && !next(4).supersedes(known))
        #expect(next(0, FleetSamples.uuid(0xB)).supersedes(known))
        #expect(next(5).includes(known) && next(6).includes(known) && !next(4).includes(known))
        #expect(!next(6, FleetSamples.uuid(0xB)).includes(known))
    }
}
