import Delivery
import JSON
import Testing

@testable import ControlProtocol

/// The formats of commands and replies.
@Suite struct FleetCommandTests {
    private static func command(_ members: String) throws -> FleetCommand {
        let json = #"{"type":"push.command.v1","id":"\#(FleetSamples.uuid(1))","by":"alice",\#(members)}"#
        return try FleetCommand(json: Array(json.utf8))
    }

    @Test(arguments: [
        FleetCommand(id: FleetSamples.uuid(1), by: "alice", action: .report(seconds: 0)),
        FleetCommand(id: FleetSamples.uuid(1), by: "alice", why: "look", action: .report(seconds: 60)),
        FleetCommand(id: FleetSamples.uuid(2), by: "bob", workers: ["a", "b"], action: .describe),
        FleetCommand(id: FleetSamples.uuid(3), by: "bob", action: .probe(.part(.key("K")))),
        FleetCommand(id: FleetSamples.uuid(3), by: "bob", action: .probe(.endpoint("api.push.apple.com:2197"))),
        FleetCommand(id: FleetSamples.uuid(3), by: "bob", action: .probe(.store)),
        FleetCommand(id: FleetSamples.uuid(4), by: "bob", why: "w", workers: ["a"], action: .pause(.topic("a b"))),
        FleetCommand(id: FleetSamples.uuid(5), by: "bob", workers: ["a"], action: .resume(.everything)),
        FleetCommand(id: FleetSamples.uuid(6), by: "bob", action: .unsupported("dance")),
    ])
    func aCommandIsReadAsWritten(command: FleetCommand) throws {
        #expect(try FleetCommand(json: command.json) == command)
    }

    @Test func anUnknownActionMayGiveMembersAnotherForm() throws {
        let command = try Self.command(#""action":"dance","seconds":"fast","scope":{},"route":[],"later":null"#)
        #expect(command.action == .unsupported("dance"))
        #expect(command.workers == nil)
        #expect(try Self.command(#""action":"describe","seconds":"fast""#).action == .describe)
        #expect(try Self.command(#""action":"report""#).action == .report(seconds: 60))
    }

    @Test(arguments: [
        (#""why":"w""#, "action"), (#""action":7"#, "action"), (#""action":"""#, "action"),
        (#""action":"report","seconds":61"#, "seconds"), (#""action":"report","seconds":-1"#, "seconds"),
        (#""action":"probe""#, "scope"), (#""action":"probe","scope":"key""#, "scope"),
        (#""action":"resume","workers":["a"],"scope":"store""#, "scope"),
        (#""action":"pause","why":"w","workers":["a"]"#, "scope"),
        (#""action":"pause","why":"w","workers":["a"],"scope":"topic""#, "scope"),
        (#""action":"pause","why":"w","scope":"everything""#, "workers"),
        (#""action":"resume","workers":["a","b"],"scope":"everything""#, "workers"),
        (#""action":"pause","workers":["a"],"scope":"everything""#, "why"),
        (#""action":"describe","workers":[]"#, "workers"), (#""action":"describe","workers":"a""#, "workers"),
        (#""action":"describe","workers":[""]"#, "a worker"), (#""action":"describe","why":"a\nb""#, "why"),
    ])
    func aMalformedCommandIsRefusedByTheNameOfTheMember(members: String, name: String) {
        let error = #expect(throws: InputError.self) { try Self.command(members) }
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
    }

    @Test func aCommandNamesAtMost1000Workers() throws {
        func command(_ count: Int) -> FleetCommand {
            FleetCommand(
                id: FleetSamples.uuid(1), by: "a", workers: (0..<count).map { "host/\($0)/0.1.0" }, action: .describe)
        }
        #expect(try FleetCommand(json: command(1000).json).workers?.count == 1000)
        #expect(throws: InputError.self) { try FleetCommand(json: command(1001).json) }
    }

    @Test func aReplyIsReadAsWritten() throws {
        let replies = [
            FleetReply(to: FleetSamples.uuid(1), from: "w", .done, status: FleetSamples.status()),
            FleetReply(to: FleetSamples.uuid(2), from: "w", .busy),
            FleetReply(to: FleetSamples.uuid(3), from: "w", .unsupported, "no action dance"),
            FleetReply(to: FleetSamples.uuid(4), from: "w", .failed, "no breaker is open"),
            FleetReply(to: FleetSamples.uuid(5), from: "w", .done, probed: 3),
        ]
        for reply in replies { #expect(try FleetReply(json: reply.json) == reply) }
        let noSentence = FleetReply(to: FleetSamples.uuid(4), from: "w", .failed)
        let error = #expect(throws: InputError.self) { try FleetReply(json: noSentence.json) }
        #expect(error?.message.contains("sentence") == true)
    }

    @Test func aReplyWithALargeStatusDropsLanesFirst() throws {
        var status = FleetSamples.status()
        let pool = WorkerStatus.Pool(host: String(repeating: "h", count: 300))
        status.lanes = (0..<16).map { number in
            .init(number: number, report: .init(pools: [WorkerStatus.Pool](repeating: pool, count: 64)))
        }
        let reply = FleetReply(
            to: FleetSamples.uuid(1), from: "w", .done, String(repeating: "\u{1B}", count: 2000), status: status)
        #expect(reply.json.count <= FleetLimits.replyBytesMax)
        let read = try FleetReply(json: reply.json)
        #expect(read.status?.breakers == status.breakers)
        let lanes = try #require(read.status?.lanes.count)
        #expect(lanes > 0 && lanes < 16)
        #expect(read.dropped == [DroppedElements(list: "lanes", count: 16 - lanes)])
    }
}
