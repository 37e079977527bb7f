import AMQP
import APNSProtocol
import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import TestKit
import Testing

@testable import Delivery

/// The journal of a lane, on virtual time.
@Suite struct LaneJournalTests {
    /// Returns the lines that the lane has passed on: the word and the object of each.
    private static func lines(_ fixture: LaneAPNSHarness) throws -> [(word: String, object: JSONValue)] {
        try fixture.harness.journal.flatMap(\.chunks).flatMap { chunk in
            try JSONDocument([UInt8(ascii: "[")] + chunk.lines + [UInt8(ascii: "]")]).root.elements.map { line in
                let elements = Array(line.elements)
                return (try #require(elements[0].string), elements[1])
            }
        }
    }

    private static func fixture(_ change: (inout JournalSettings) -> Void = { _ in }) throws -> LaneAPNSHarness {
        var settings = JournalSettings()
        change(&settings)
        return try LaneAPNSHarness(journal: settings)
    }

    @Test func `Each result is a line with the bytes of its message`() throws {
        let fixture = try Self.fixture()
        fixture.request(5)
        fixture.harness.request("no JSON")
        try #require(fixture.harness.run { fixture.results == 6 })
        fixture.harness.pass(seconds: 1)
        let results = try Self.lines(fixture).filter { $0.word == "result" }
        let published = try #require(fixture.harness.queue(fixture.harness.names.resultsQueue)?.ready.map(\.body))
        #expect(Set(results.map { Array($0.object.sourceBytes) }) == Set(published) && results.count == 6)
        // Lines are passed on together.
        #expect(fixture.harness.journal.count <= 3)
    }

    @Test func `Without the section a lane writes no journal`() throws {
        let fixture = try LaneAPNSHarness()
        fixture.request(5)
        try #require(fixture.harness.run { fixture.results == 5 })
        fixture.harness.drain(deadlineSeconds: 1)
        try #require(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(fixture.harness.journal.isEmpty)
    }

    @Test func `A drain passes the last lines on`() throws {
        let fixture = try Self.fixture()
        fixture.request(1)
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.drain(deadlineSeconds: 1)
        try #require(fixture.harness.run { fixture.harness.unfinished == 0 })
        #expect(try Self.lines(fixture).map(\.word) == ["result"])
    }

    // A request that is held for a day has hundreds of rounds.
    @Test func `A wait has a line when it begins and when its code changes`() throws {
        let fixture = try Self.fixture()
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0))))
        fixture.request(1)
        try #require(fixture.harness.run { fixture.waits == 4 })
        try fixture.harness.onLoop {
            try fixture.apns.faults.put(
                Fault(id: "busy", action: .answer(.refused(.tooManyRequests)), countMax: 2))
        }
        #expect(fixture.harness.pause(.topic(SimulatedApps.bundleID(0)), false))
        try #require(fixture.harness.run { fixture.results == 1 })
        fixture.harness.pass(seconds: 1)
        let lines = try Self.lines(fixture)
        #expect(lines.map(\.word) == ["wait", "wait", "result"])
        let waits = lines.filter { $0.word == "wait" }.map(\.object)
        #expect(waits.map { $0["code"]?.string } == ["paused", "TooManyRequests"])
        #expect(waits.map { $0["attempts"]?.int } == [0, 1])
        for wait in waits {
            #expect(wait["id"]?.string == LaneAPNSHarness.id(0) && wait["device_token"]?.string == "aabb")
            #expect(wait["app"]?.string == SimulatedApps.bundleID(0))
            let queue = try #require(wait["queue"]?.string)
            #expect(queue.hasPrefix("push.wait.") && fixture.harness.queue(queue) != nil)
            let (at, until) = (try #require(wait["at"]?.int64), try #require(wait["until"]?.int64))
            let name = queue.split(separator: ".")
            let delays = Topology().waits.filter { $0.label == name[2] }
            let sibling = try #require(Int(name[3])) - 1
            #expect(delays.map { $0.milliseconds(sibling: sibling) } == [until - at])
        }
    }

    @Test func `Dead letters are sampled with headers and body`() throws {
        let fixture = try Self.fixture()
        let long = String(repeating: "x", count: 20_000)
        for number in 0..<20 {
            fixture.harness.request("no JSON \(number)", headers: ["note": .string("n-\(number)"), "n": 7])
        }
        fixture.harness.request(#"{"app":"\#(long)"}"#, headers: ["big": .string(long)])
        try #require(fixture.harness.run { fixture.harness.deadLetters.count == 21 })
        fixture.harness.pass(seconds: 1)
        let samples = try Self.lines(fixture).filter { $0.word == "dead" }.map(\.object)
        #expect(samples.map { $0["class"]?.string } == Array(repeating: "json", count: 5) + ["schema"])
        for (number, sample) in samples.prefix(5).enumerated() {
            #expect(sample["body"]?.string.flatMap { Base64.decode($0) } == Array("no JSON \(number)".utf8))
            #expect(sample["headers"]?["note"]?.string == "n-\(number)" && sample["headers"]?["n"] == nil)
            #expect(sample["headers"]?["push-origin-queue"]?.string == "push.requests" && sample["truncated"] == nil)
            #expect(sample["at"]?.int64 != nil && sample["code"]?.string == "syntax")
        }
        let large = try #require(samples.last)
        #expect(large["truncated"]?.bool == true && large["headers"]?["big"] == nil)
        #expect(large["body"]?.string.flatMap { Base64.decode($0) }?.count == 16 << 10)
        // The results of all dead letters are in the journal.
        #expect(try Self.lines(fixture).count { $0.word == "result" } == 21)
    }

    @Test func `Samples can be turned off, and accepted results sampled`() throws {
        let fixture = try Self.fixture {
            $0.samplesDeadLetters = false
            $0.acceptedShare = 0.25
        }
        fixture.request(40)
        for number in 0..<4 { fixture.harness.request("no JSON \(number)") }
        try #require(fixture.harness.run { fixture.results == 44 })
        fixture.harness.pass(seconds: 1)
        let lines = try Self.lines(fixture)
        #expect(lines.allSatisfy { $0.word == "result" })
        #expect(lines.count { $0.object["outcome"]?.string == "accepted" } == 10)
        #expect(lines.count { $0.object["outcome"]?.string == "invalid" } == 4)
    }
}
