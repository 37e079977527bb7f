import Delivery
import EventLoop
import Testing

@testable import ControlProtocol

/// Random changes to encoded messages. A decoder refuses the text, or returns a message that is read as written.
@Suite struct FleetMutationTests {
    private static let mutationsMax = 400

    private static func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        let place = random.below(bytes.count)
        switch random.below(4) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(contentsOf: Array(#"{}[]",:0-e\ "#.utf8).shuffled(using: &random).prefix(2), at: place)
        default:
            let end = place + random.below(min(16, bytes.count - place))
            bytes.insert(contentsOf: bytes[place...end], at: random.below(bytes.count))
        }
    }

    private static func check<Message: Equatable>(
        _ valid: [UInt8], seed: UInt64, _ read: ([UInt8]) throws -> Message, _ write: (Message) -> [UInt8]
    ) throws {
        var random = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<mutationsMax {
            var bytes = valid
            for _ in 0...random.below(3) where !bytes.isEmpty { mutate(&bytes, &random) }
            guard let message = try? read(bytes) else {
                refused += 1
                continue
            }
            #expect(try read(write(message)) == message)
        }
        #expect(refused > mutationsMax / 4)
        #expect(refused < mutationsMax)
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func recordsOfPauses(seed: UInt64) throws {
        let pauses = [
            FleetSamples.pause(.topic("com.example.shop"), until: FleetSamples.now + 7_200_000),
            FleetSamples.pause(.everything, why: "é\"x"),
        ]
        try Self.check(
            FleetSamples.record(18, pauses).json, seed: seed, { try PauseRecord(json: $0) },
            {
                // A record that was read can be changed.
                _ = try? $0.applying(.resume(.everything), at: FleetSamples.now)
                return $0.json
            })
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func commands(seed: UInt64) throws {
        let command = FleetCommand(
            id: FleetSamples.uuid(1), by: "alice", why: "why", workers: ["host/7/0.1.0"], action: .pause(.key("K")))
        try Self.check(command.json, seed: seed, { try FleetCommand(json: $0) }, { $0.json })
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func replies(seed: UInt64) throws {
        let reply = FleetReply(
            to: FleetSamples.uuid(1), from: "w", .failed, "a sentence", status: FleetSamples.status())
        try Self.check(reply.json, seed: seed, { try FleetReply(json: $0) }, { $0.json })
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func batchesOfTheJournal(seed: UInt64) throws {
        let head = JournalHead(worker: "w", bootID: FleetSamples.uuid(1), sequence: 1, sentAt: FleetSamples.now)
        let sample = JournalSample(
            at: FleetSamples.now, id: FleetSamples.uuid(2), failureClass: "apns", code: "BadTopic",
            headers: [.init("a", "b")], body: [1, 2, 3])
        let batch = JournalBatch(head, lines: [.result(Array(#"{"outcome":"accepted"}"#.utf8)), .dead(sample)])
        try Self.check(
            batch.json, seed: seed,
            {
                let batch = try JournalBatch(json: $0)
                return JournalBatch(batch.head, lines: batch.lines)
            }, { $0.json })
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func reports(seed: UInt64) throws {
        var view = FleetView()
        try Self.check(
            FleetSamples.report(sequence: 1, revision: 18).json, seed: seed,
            {
                _ = view.receive($0, at: .at(1))
                return try FleetReport(json: $0)
            }, { $0.json })
        #expect(view.workers(at: .at(1)).count + view.malformedCount > 1)
    }
}
