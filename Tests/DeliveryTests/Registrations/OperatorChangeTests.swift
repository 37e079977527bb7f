import AMQP
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Events of changes that an operator requests, while the broker is slow and while publishing fails.
@Suite struct OperatorChangeTests {
    private static let deviceCount = CommandBatch.commandsMax

    /// Applies one batch that registers all devices for a user. If they have another user, each has an event.
    ///
    /// - Parameter age: The time since the registrations, in milliseconds.
    private func register(for user: String, age: Int64, in harness: RegistrationHarness) throws {
        var isApplied = false
        let commands = (0..<Self.deviceCount).map { harness.register($0, user: user, age: age) }
        try harness.apply(commands) { result in
            if case .success = result { isApplied = true }
        }
        #expect(harness.run { isApplied })
    }

    @Test func `Events beyond the limit are published by maintenance, and none twice`() throws {
        let harness = try RegistrationHarness(devicesPerUserMax: 1000)
        try register(for: "ann", age: 1000, in: harness)
        harness.onLoop { harness.broker.behavior.confirmDelayMilliseconds = 1000...1000 }
        for number in 0..<5 { try register(for: "user-\(number)", age: 900 - Int64(number), in: harness) }
        let eventCount = 5 * Self.deviceCount
        #expect(eventCount > EventRelay.operatorEventsMax && harness.store.events.count == eventCount)
        harness.pass(seconds: StoreMaintenance.intervalSeconds / 2)
        let publishedCount = harness.results.count
        #expect(publishedCount > 0 && publishedCount <= EventRelay.operatorEventsMax)
        #expect(harness.store.events.count == eventCount - publishedCount)
        #expect(harness.run { harness.store.events.isEmpty })
        harness.pass(seconds: 3 * StoreMaintenance.intervalSeconds)
        #expect(harness.results.count == eventCount)
        #expect(Set(harness.results.map(\.properties.messageID)).count == eventCount)
    }

    @Test func `While publishing fails, events of an operator's changes remain in the store`() throws {
        let harness = try RegistrationHarness(devicesPerUserMax: 1000)
        try register(for: "ann", age: 1000, in: harness)
        harness.onLoop { harness.broker.behavior.nackPercent = 100 }
        harness.send(1, harness.register(Self.deviceCount, user: "ann", age: 10))
        harness.send(2, harness.register(Self.deviceCount, user: "bob"))
        #expect(harness.run { harness.status.reasons.count == 1 })
        try register(for: "bob", age: 900, in: harness)
        #expect(harness.store.events.count == Self.deviceCount + 1)
        harness.onLoop { harness.broker.behavior.nackPercent = 0 }
        #expect(harness.run { harness.store.events.isEmpty && harness.isReady && harness.isDrained })
        #expect(Set(harness.results.map(\.properties.messageID)).count == Self.deviceCount + 1)
        // Maintenance, not the change, published the events.
        let claimed = harness.results.filter {
            $0.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue == true
        }
        #expect(claimed.count >= Self.deviceCount)
    }
}
