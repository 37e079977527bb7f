import Crypto
import EventLoop
import JSON
import Testing

@testable import ControlProtocol

/// The format of the journal's batches.
@Suite struct JournalBatchTests {
    private static func head(_ sequence: Int = 17) -> JournalHead {
        JournalHead(
            worker: "host/7/0.2", bootID: FleetSamples.uuid(1), sequence: sequence, sentAt: FleetSamples.now,
            droppedLines: 3)
    }

    private static let wait = JournalWait(
        at: FleetSamples.now, id: FleetSamples.uuid(2), app: "com.example.shop", deviceToken: "00fc13ad", user: "u\"1",
        code: "InvalidProviderToken", sentence: "APNs refuses the key.", attempts: 1, queue: "push.wait.15m.1",
        until: FleetSamples.now + 900_000)
    private static let sample = JournalSample(
        at: FleetSamples.now, id: FleetSamples.uuid(3), app: "com.example.shop", failureClass: "apns",
        code: "BadTopic", path: "/aps/alert", headers: [.init("push-attempts", "2"), .init("x", "é")],
        body: [0, 255, 1], isTruncated: true)
    private static let result = #"{"id":"x", "outcome":"accepted","later":[1,{"a":null}]}"#

    private static func batch(lines: String, members: String = "") throws -> JournalBatch {
        let json = """
            {"type":"push.journal.v1","worker":"w","boot_id":"\(FleetSamples.uuid(1))","sequence":1,\
            "sent_at":\(FleetSamples.now)\(members),"lines":[\(lines)]}
            """
        return try JournalBatch(json: Array(json.utf8))
    }

    @Test func aBatchIsReadAsWritten() throws {
        let batch = JournalBatch(
            Self.head(), lines: [.result(Array(Self.result.utf8)), .wait(Self.wait), .dead(Self.sample)])
        let read = try JournalBatch(json: batch.json)
        #expect(read == batch)
        #expect(read.ignoredLines == 0)
        var ended = JournalBatch(Self.head(), lines: [])
        ended.head.hasEnded = true
        #expect(try JournalBatch(json: ended.json) == ended)
    }

    /// Lanes write the lines, and the control loop adds the head.
    @Test func theHeadCompletesLinesThatALaneHasWritten() throws {
        var json = JSONWriter()
        let lines: [JournalLine] = [.result(Array(Self.result.utf8)), .wait(Self.wait), .dead(Self.sample)]
        for line in lines { line.write(to: &json) }
        let batch = JournalBatch(Self.head(), lines: lines)
        #expect(Self.head().json(lines: json.bytes) == batch.json)
        #expect(try JournalBatch(json: Self.head().json(lines: [])) == JournalBatch(Self.head(), lines: []))
    }

    @Test func theBytesOfAResultAreKept() throws {
        let batch = try Self.batch(lines: #"["result", \#(Self.result) ]"#)
        #expect(batch.lines == [.result(Array(Self.result.utf8))])
    }

    @Test func unknownWordsElementsAndMembersAreIgnored() throws {
        let wait =
            #"{"at":\#(FleetSamples.now),"id":"\#(FleetSamples.uuid(2))","app":"a","code":"c","attempts":0,"#
            + #""queue":"q","until":\#(FleetSamples.now),"later":{}}"#
        let batch = try Self.batch(
            lines: #"["later",{}],["wait",\#(wait),"later"],["result",{}]"#, members: #","later":[1]"#)
        #expect(batch.lines.count == 2)
        #expect(batch.ignoredLines == 1)
    }

    @Test(arguments: [
        "7", "[]", #"["result"]"#, #"["result",7]"#, #"[7,{}]"#, #"["wait",{}]"#, #"["dead",{}]"#,
        #"["dead",{"at":1764300000000,"class":"apns","code":"c","body":"!"}]"#,
        #"["dead",{"at":1764300000000,"class":"apns","code":"c","headers":{"a":7}}]"#,
        #"["dead",{"at":1764300000000,"class":"apns","code":"a\nb"}]"#,
        #"["dead",{"at":1764300000,"class":"apns","code":"c"}]"#,
        #"["dead",{"at":1764300000000,"class":"apns","code":"c","id":"7"}]"#,
    ])
    func aMalformedLineIsCountedAndTheOthersAreRead(line: String) throws {
        let batch = try Self.batch(lines: #"\#(line),["result",{"a":1}]"#)
        #expect(batch.lines == [.result(Array(#"{"a":1}"#.utf8))])
        #expect(batch.ignoredLines == 1)
    }

    @Test func aLineHasALimitedSize() throws {
        func line(_ count: Int) -> String { #"["result",{"a":"\#(String(repeating: "x", count: count))"}]"# }
        let frame = line(0).utf8.count
        #expect(try Self.batch(lines: line(JournalLimits.lineBytesMax - frame)).lines.count == 1)
        #expect(try Self.batch(lines: line(JournalLimits.lineBytesMax - frame + 1)).ignoredLines == 1)
    }

    @Test func aSampleHasALimitedBody() throws {
        var sample = Self.sample
        sample.body = [UInt8](repeating: 7, count: JournalLimits.bodyBytesMax)
        #expect(try JournalBatch(json: JournalBatch(Self.head(), lines: [.dead(sample)]).json).lines == [.dead(sample)])
        sample.body.append(7)
        #expect(try JournalBatch(json: JournalBatch(Self.head(), lines: [.dead(sample)]).json).ignoredLines == 1)
    }

    @Test(arguments: [
        (#""sequence":0"#, "sequence"), (#""sent_at":7"#, "sent_at"), (#""worker":"a\u0007""#, "worker"),
        (#""boot_id":"7""#, "boot_id"), (#""dropped":-1"#, "dropped"), (#""ended":1"#, "ended"),
        (#""lines":{}"#, "lines"),
    ])
    func aMalformedHeadIsRefusedByTheNameOfTheMember(member: String, name: String) throws {
        let members = [
            #""worker":"w""#, #""boot_id":"\#(FleetSamples.uuid(1))""#, #""sequence":1"#,
            #""sent_at":\#(FleetSamples.now)"#,
        ].filter { !$0.hasPrefix(#""\#(name)""#) }
        let json = "{" + ([#""type":"push.journal.v1""#, member] + members).joined(separator: ",") + "}"
        let error = #expect(throws: InputError.self) { try JournalBatch(json: Array(json.utf8)) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test func aBatchHasALimitedSizeAndNesting() throws {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        #expect(throws: InputError.self) { try Self.batch(lines: #"["result",{"a":\#(deep)}]"#) }
        let many = String(repeating: "7,", count: JournalLimits.batchBytesMax / 2)
        #expect(throws: InputError.self) { try Self.batch(lines: many + "7") }
        #expect(try Self.batch(lines: String(repeating: "7,", count: 60_000) + "7").ignoredLines == 60_001)
    }
}
