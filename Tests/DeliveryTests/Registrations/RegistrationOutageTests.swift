import AMQP
import APNSProtocol
import Crypto
import EventLoop
import JSON
import Registrations
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Outages of the store, of the broker, and of the consumer itself.
@Suite struct RegistrationOutageTests {
    private static let away = StoreFault(.unreachable, "The server is away: start it.", errorClass: "08")
    private static let full = StoreFault(.refused, "The disk is full: free space.", errorClass: "53")

    @Test func `While the store is away, the consumer stops, and its commands are kept`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.fault = Self.away }
        #expect(harness.run { harness.queue.consumerCount == 0 })
        #expect(!harness.status.isStoring)
        #expect(
            harness.status.reasons == ["cannot store registrations (unreachable): The server is away: start it."])
        #expect(harness.metrics.level(of: "martlet_registration_store_up") == 0)
        harness.send(1, harness.register(1, user: "ann"))
        harness.pass(seconds: 100)
        #expect(harness.queue.ready.count == 1)
        harness.onLoop { harness.store.fault = nil }
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 && harness.isReady })
        #expect(harness.status.reasons.isEmpty)
        #expect(harness.metrics.level(of: "martlet_registration_store_up") == 1)
    }

    @Test func `A batch that the outage interrupts is written after it`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1) }
        for number in 0..<10 { harness.send(number, harness.register(number, user: "ann")) }
        #expect(harness.run { harness.writer.batchSizes == [10] })
        harness.onLoop { harness.store.fault = Self.away }
        harness.pass(seconds: 60)
        #expect(harness.queue.unsettled == 10 && harness.liveRows == 0)
        harness.onLoop { harness.store.fault = nil }
        #expect(harness.run { harness.isDrained && harness.liveRows == 10 })
        #expect(harness.writer.batchSizes == [10, 10] && harness.deadLetters.isEmpty)
    }

    @Test func `Commands return to their queue after ten minutes without a store`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1) }
        for number in 0..<10 { harness.send(number, harness.register(number, user: "ann")) }
        #expect(harness.run { !harness.writer.batchSizes.isEmpty })
        harness.onLoop { harness.store.fault = Self.away }
        harness.pass(seconds: CommandIntake.unacknowledgedSecondsMax - 10)
        #expect(harness.queue.unsettled == 10)
        harness.pass(seconds: 20)
        #expect(harness.queue.unsettled == 0 && harness.queue.ready.count == 10)
        harness.pass(seconds: 3600)
        #expect(harness.broker.requeued == 10)
        harness.onLoop { harness.store.fault = nil }
        #expect(harness.run { harness.isDrained && harness.liveRows == 10 })
    }

    @Test func `A store that refuses work is tried again, and the outage is logged once`() throws {
        let log = try CapturedLog()
        let harness = try RegistrationHarness(log: log.log)
        harness.onLoop { harness.writer.faults = Array(repeating: Self.full, count: 10) }
        harness.send(1, harness.register(1, user: "ann"))
        #expect(harness.run { harness.writer.faults.count < 10 && harness.queue.consumerCount == 0 })
        #expect(
            harness.status.reasons == ["cannot store registrations (refused): The disk is full: free space."])
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 && harness.isReady })
        let lines = log.lines().filter { $0.contains("registration.") }
        #expect(lines.count == 2)
        #expect(lines.first?.contains("registration.store_lost") == true)
        #expect(lines.first?.contains("The disk is full: free space.") == true)
        #expect(lines.last?.contains("registration.store_back") == true)
        let name = "martlet_registration_store_errors_total"
        #expect(harness.metrics.count(of: name, with: ("class", "53")) == 10)
    }

    @Test func `The consumer waits for a store that is away at the start`() throws {
        let harness = try RegistrationHarness(storeFault: Self.away)
        harness.send(1, harness.register(1, user: "ann"))
        #expect(harness.run { harness.status.isConsuming && harness.status.reasons.count == 1 })
        harness.pass(seconds: 100)
        #expect(harness.queue.ready.count == 1 && harness.queue.consumerCount == 0)
        harness.onLoop { harness.store.fault = nil }
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
    }

    @Test func `The answer to a commit is lost`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop { harness.store.losesAnswers = true }
        harness.send(2, harness.register(1, user: "bob"), replyTo: RegistrationHarness.replyQueue)
        #expect(harness.run { !harness.status.reasons.isEmpty })
        harness.onLoop { harness.store.losesAnswers = false }
        #expect(harness.run { harness.isDrained && harness.replies.count == 1 })
        #expect(try harness.outcomes() == ["unchanged"])
        // Maintenance publishes the event, and marks it as a possible duplicate.
        #expect(harness.run { harness.results.count == 1 && harness.store.events.isEmpty })
        #expect(try harness.events() == ["moved"])
        #expect(
            harness.results.first?.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true)
    }

    @Test func `A deletion of events that fails is repeated before the acknowledgment`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 1000...1000 }
        harness.send(2, harness.register(1, user: "bob"))
        #expect(harness.run { harness.results.count == 1 })
        harness.onLoop { harness.writer.faults = [Self.full] }
        #expect(harness.run { harness.writer.faults.isEmpty })
        #expect(harness.queue.unsettled == 1 && harness.store.events.count == 1)
        #expect(harness.run { harness.isDrained && harness.store.events.isEmpty })
        #expect(harness.results.count == 1)
    }

    // After a `data` fault, the consumer refuses the faulty command of a batch. A deletion has no command to refuse.
    @Test(arguments: [StoreFault.Code.data, .schema, .refused, .unreachable])
    func `Maintenance continues after a deletion of claimed events has failed`(code: StoreFault.Code) throws {
        let harness = try RegistrationHarness()
        let body = harness.register(1, user: "ann").dropLast() + #","expires_at":\#(harness.now + 90_000)}"#
        harness.send(1, String(body))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop {
            harness.writer.faultsOfDeletions = Array(repeating: StoreFault(code, "no deletion"), count: 3)
        }
        #expect(harness.run { harness.writer.faultsOfDeletions.count < 3 })
        #expect(!harness.status.isStoring && harness.store.events.count == 1)
        #expect(harness.status.reasons == ["cannot store registrations (\(code.rawValue)): no deletion"])
        #expect(harness.run { harness.store.events.isEmpty && harness.isReady })
        // The event was published once, although its deletion was repeated.
        #expect(try harness.events() == ["expired"])
        let rounds = harness.writer.rounds
        harness.pass(seconds: 3 * StoreMaintenance.intervalSeconds)
        #expect(harness.writer.rounds >= rounds + 2)
    }

    @Test(arguments: [StoreFault.Code.data, .schema, .refused, .unreachable])
    func `Maintenance continues after a round has failed`(code: StoreFault.Code) throws {
        let harness = try RegistrationHarness()
        harness.pass(seconds: StoreMaintenance.intervalSeconds - 1)
        harness.onLoop { harness.writer.faults = [StoreFault(code, "no round")] }
        #expect(harness.run { harness.writer.faults.isEmpty })
        #expect(harness.status.reasons == ["cannot store registrations (\(code.rawValue)): no round"])
        #expect(harness.run { harness.isReady && harness.status.reasons.isEmpty })
        let rounds = harness.writer.rounds
        harness.pass(seconds: 3 * StoreMaintenance.intervalSeconds)
        #expect(harness.writer.rounds >= rounds + 2)
    }

    @Test func `A missing data key of maintenance does not pause commands`() throws {
        let log = try CapturedLog()
        let harness = try RegistrationHarness(log: log.log)
        let missing = MissingDataKey(id: 2)
        harness.onLoop { harness.writer.omittedKey = missing }
        harness.pass(seconds: 3 * StoreMaintenance.intervalSeconds + 1)
        harness.onLoop { harness.writer.faults = [StoreFault(missing)] }
        harness.pass(seconds: StoreMaintenance.intervalSeconds)
        #expect(harness.writer.faults.isEmpty && harness.isReady && harness.status.reasons.isEmpty)
        let name = "martlet_registration_store_errors_total"
        #expect(harness.metrics.count(of: name, with: ("code", "keys")) == 4)
        let lines = log.lines().filter { $0.contains("registration.") }
        #expect(lines.count == 1 && lines.first?.contains("keys_file has no data key 2") == true)
        #expect(lines.first?.contains("registration.maintenance_incomplete") == true)
        harness.send(1, harness.register(1, user: "ann"))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
    }

    @Test func `A batch that exceeds a limit of the server is divided until it fits`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.writer.commandsMax = 10 }
        for number in 0..<100 { harness.send(number, harness.register(number, user: "user-\(number)")) }
        #expect(harness.run { harness.isDrained && harness.liveRows == 100 })
        #expect(harness.deadLetters.isEmpty && harness.queue.consumerCount == 1)
    }

    @Test func `Both connections are lost during a batch`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.store.latency = .seconds(1) }
        for number in 0..<20 { harness.send(number, harness.register(number, user: "user-\(number)")) }
        #expect(harness.run { !harness.writer.batchSizes.isEmpty })
        harness.onLoop { harness.broker.crash() }
        #expect(harness.run { harness.status.reasons.count == 2 })
        try harness.onLoop { try harness.broker.start() }
        #expect(harness.run { harness.isReady && harness.isDrained })
        #expect(harness.liveRows == 20 && harness.status.reasons.isEmpty)
    }

    /// Each test case loses one of the consumer's two connections.
    @Test(arguments: [0, 1]) func `One connection is lost while events are published`(connection: Int) throws {
        let harness = try RegistrationHarness()
        for number in 0..<20 { harness.send(number, harness.register(number, user: "ann", age: 10)) }
        #expect(harness.run { harness.isDrained && harness.liveRows == 20 })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 2000...2000 }
        for number in 0..<20 { harness.send(100 + number, harness.register(number, user: "bob")) }
        #expect(harness.run { harness.results.count == 20 })
        harness.cut(connection)
        #expect(harness.run { !harness.isReady })
        #expect(harness.run { harness.isReady && harness.isDrained && harness.store.events.isEmpty })
        #expect(Set(harness.results.map(\.properties.messageID)).count == 20)
        let repeats = harness.results.dropFirst(20)
        #expect(
            repeats.allSatisfy {
                $0.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true
            })
        #expect(harness.liveRows == 20 && harness.deadLetters.isEmpty)
    }

    @Test func `While events cannot be published, the consumer stops`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.send(2, harness.register(1, user: "bob"))
        #expect(harness.run { harness.queue.consumerCount == 0 })
        #expect(harness.status.reasons.count == 1)
        harness.send(3, harness.register(2, user: "ann"))
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { harness.isReady && harness.isDrained && harness.liveRows == 2 })
        #expect(harness.status.reasons.isEmpty && harness.store.events.isEmpty)
    }

    @Test func `While replies cannot be published, the consumer stops and drops old replies`() throws {
        let harness = try RegistrationHarness()
        let count = 100
        func send(replyTo: String?) {
            for number in 0..<count {
                harness.send(number, harness.register(number, user: "user-\(number)"), replyTo: replyTo)
            }
        }
        send(replyTo: RegistrationHarness.replyQueue)
        #expect(harness.run { harness.isDrained && harness.replies.count == count })
        harness.onLoop { harness.broker.raiseAlarm("memory") }
        send(replyTo: RegistrationHarness.replyQueue)
        #expect(harness.run { harness.queue.consumerCount == 0 })
        #expect(harness.status.reasons.contains { $0.contains("cannot publish the reply to a command") })
        harness.pass(seconds: 3 * CommandIntake.unacknowledgedSecondsMax + 60)
        #expect(harness.queue.consumerCount == 0 && harness.queue.ready.count == count)
        #expect(harness.broker.requeued == count)
        harness.onLoop { harness.broker.clearAlarm() }
        #expect(harness.run { harness.isReady && harness.isDrained })
        harness.pass(seconds: 60)
        // Only the replies that were being published exist twice.
        #expect(2 * count...2 * count + ReplyQueue.publishesMax ~= harness.replies.count)
        #expect(harness.status.reasons.isEmpty)
    }

    @Test func `An event whose confirm is missing is marked when it is repeated`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 5000...5000 }
        harness.send(2, harness.register(1, user: "bob"))
        #expect(harness.run { harness.results.count == 1 })
        harness.cut()
        #expect(harness.run { harness.results.count == 2 && harness.store.events.isEmpty })
        let marks = harness.results.map { $0.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue }
        #expect(marks == [nil, true])
        #expect(Set(harness.results.map(\.properties.messageID)).count == 1)
    }

    @Test func `Events of a consumer that ended after the commit are published by the next one`() throws {
        let harness = try RegistrationHarness()
        harness.send(1, harness.register(1, user: "ann", age: 10))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        try harness.onLoop {
            let command = try ReceivedCommand(
                Array(harness.register(1, user: "bob").utf8), messageID: .random(), from: .queue, now: harness.now,
                environment: { _, _ in .sandbox }
            ).command
            // The store looks as if another process had committed the command and ended before it published the event.
            try harness.store.apply([command], rules: RegistrationRules(now: harness.now))
        }
        #expect(harness.results.isEmpty && harness.store.events.count == 1)
        #expect(harness.run { harness.results.count == 1 && harness.store.events.isEmpty })
        #expect(try harness.events() == ["moved"])
        #expect(
            harness.results.first?.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true)
        harness.pass(seconds: 300)
        #expect(harness.results.count == 1)
    }

    @Test func `Maintenance is repeated at once while work remains`() throws {
        let harness = try RegistrationHarness()
        harness.onLoop { harness.writer.incompleteRounds = 5 }
        harness.pass(seconds: StoreMaintenance.intervalSeconds + 1)
        #expect(harness.writer.rounds == 6)
        harness.pass(seconds: StoreMaintenance.intervalSeconds)
        #expect(harness.writer.rounds == 7)
    }

    @Test func `Expired registrations are reported`() throws {
        let harness = try RegistrationHarness()
        let body = harness.register(1, user: "ann").dropLast() + #","expires_at":\#(harness.now + 90_000)}"#
        harness.send(1, String(body))
        #expect(harness.run { harness.isDrained && harness.liveRows == 1 })
        #expect(harness.run { harness.results.count == 1 })
        #expect(try harness.events() == ["expired"] && harness.liveRows == 0)
    }
}
