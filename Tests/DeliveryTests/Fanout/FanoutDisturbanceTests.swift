import AMQP
import BrokerTopology
import EventLoop
import Registrations
import TestKit
import Testing

@testable import Delivery

/// Requests to users while channels, connections and lanes end, on virtual time.
@Suite struct FanoutDisturbanceTests {
    private static let userCount = 60
    private static let devicesPerUser = 20
    private static let deviceCount = userCount * devicesPerUser

    /// Creates a harness with more devices than two chunks hold. Its broker confirms after a second.
    private func fixture(lanes: Int = 1) throws -> FanoutHarness {
        let fixture = try FanoutHarness(lanes: lanes)
        for user in 0..<Self.userCount {
            let first = user * Self.devicesPerUser
            try fixture.register("user-\(user)", FanoutHarness.tokens(first..<first + Self.devicesPerUser))
        }
        fixture.harness.onLoop { fixture.harness.broker.behavior.confirmDelayMilliseconds = 1000...1000 }
        return fixture
    }

    private static let request = FanoutHarness.request(1, users: (0..<userCount).map { "user-\($0)" })

    /// Checks that each device was pushed to once, that the first report counts the devices, and that no request was
    /// dead-lettered.
    private func expectWhole(_ fixture: FanoutHarness) {
        #expect(fixture.pushedTokens == FanoutHarness.tokens(0..<Self.deviceCount).sorted())
        #expect(Set(fixture.results.compactMap { $0.text("id") }).count == Self.deviceCount)
        #expect(fixture.reports.first?.number("devices") == Self.deviceCount)
        #expect(fixture.deadLetters.isEmpty)
    }

    private func isDone(_ fixture: FanoutHarness) -> Bool { !fixture.reports.isEmpty && fixture.isIdle }

    @Test(arguments: LongForm.pick([1, 100, 499, 501, 700, 1199], short: [1, 499, 700]))
    func `A lost channel loses and repeats no push`(_ childCount: Int) throws {
        let fixture = try fixture()
        fixture.publish(Self.request, 1)
        #expect(fixture.run { fixture.children.count >= childCount })
        fixture.harness.onLoop { fixture.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(fixture.run { isDone(fixture) })
        fixture.settle()
        expectWhole(fixture)
    }

    @Test(arguments: LongForm.pick([1, 100, 499, 501, 700, 1199], short: [100, 501, 1199]))
    func `A lost connection loses and repeats no push`(_ childCount: Int) throws {
        let fixture = try fixture()
        fixture.publish(Self.request, 1)
        #expect(fixture.run { fixture.children.count >= childCount })
        fixture.harness.onLoop { fixture.harness.broker.closeConnections() }
        #expect(fixture.run { isDone(fixture) })
        fixture.settle()
        expectWhole(fixture)
        // A repeated child is marked, since a worker in another process might push it again.
        let repeated = Dictionary(grouping: fixture.children) { $0.properties.messageID ?? "" }.filter { $1.count > 1 }
        for (_, children) in repeated {
            let last = children.last?.properties.header(MessageHeaderName.possibleDuplicate)?.booleanValue
            #expect(last == true)
        }
    }

    @Test(arguments: LongForm.pick([1, 100, 499, 501, 1199], short: [1, 499, 501]))
    func `A lane that drains splits a chunk, and another lane continues it`(_ childCount: Int) throws {
        let fixture = try fixture(lanes: 2)
        // The first lane drains, whether it has the request or not.
        fixture.publish(Self.request, 1)
        #expect(fixture.run { fixture.children.count >= childCount })
        fixture.harness.drain(0, deadlineSeconds: 30)
        #expect(fixture.run { fixture.harness.ended == 1 })
        #expect(fixture.run { isDone(fixture) })
        fixture.settle()
        expectWhole(fixture)
        #expect(fixture.children.count == Self.deviceCount && fixture.reports.count == 1)
        #expect(fixture.reports.first?.flag("possible_duplicate") == false)
    }

    @Test func `More lists than places for chunks are all expanded`() throws {
        let fixture = try FanoutHarness(inFlightMax: 40)
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.store.latency = .milliseconds(100) }
        for number in 0..<40 { fixture.publish(FanoutHarness.request(number, users: ["ann"]), number) }
        #expect(fixture.run { fixture.results.count == 80 && fixture.isIdle })
        #expect(fixture.reports.count == 40)
    }

    @Test func `Waiting lists return to the broker when the lane drains`() throws {
        let fixture = try FanoutHarness(inFlightMax: 40)
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.store.latency = .seconds(2) }
        for number in 0..<40 { fixture.publish(FanoutHarness.request(number, users: ["ann"]), number) }
        #expect(fixture.run { fixture.harness.queue()?.unsettled == 40 })
        fixture.harness.drain(deadlineSeconds: 20)
        #expect(fixture.run { fixture.harness.unfinished != nil })
        #expect(fixture.harness.unfinished == 0 && fixture.harness.queue()?.ready.count == 40)
    }

    @Test func `A request whose channel was lost during its lookup is redelivered`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.store.latency = .milliseconds(500) }
        fixture.publish(FanoutHarness.request(1, user: "ann"), 1)
        #expect(fixture.run { fixture.harness.queue()?.unsettled == 1 })
        fixture.harness.pass(seconds: 0)
        fixture.harness.onLoop { fixture.harness.broker.closeChannels(541, "INTERNAL_ERROR") }
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        fixture.settle()
        #expect(fixture.pushedTokens == ["aa01", "aa02"] && fixture.children.count == 2)
    }

    @Test func `Children with many headers of the producer are published without them`() throws {
        let fixture = try FanoutHarness()
        try fixture.register("ann", ["aa01", "aa02"])
        fixture.harness.onLoop { fixture.harness.broker.behavior.frameBytesMax = 4096 }
        fixture.harness.onLoop { fixture.harness.broker.closeConnections() }
        #expect(fixture.run { fixture.harness.isReady })
        fixture.publish(
            FanoutHarness.request(1, user: "ann"), 1,
            headers: ["note": .string(String(repeating: "n", count: 3800))])
        #expect(fixture.run { fixture.results.count == 2 && fixture.isIdle })
        #expect(fixture.pushedTokens == ["aa01", "aa02"])
        #expect(fixture.children.allSatisfy { $0.properties.header("note") == nil })
    }
}
