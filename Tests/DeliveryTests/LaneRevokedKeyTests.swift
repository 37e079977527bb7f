import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// The latency of forty apps with four keys at a steady rate, while one key is revoked for a time. Latencies are exact
/// on virtual time.
@Suite struct LaneRevokedKeyTests {
    private static let (keys, apps) = (4, 40)
    private static let pushesPerSecond = LongForm.pick(500, short: 100)
    private static let secondsBefore = LongForm.pick(30, short: 5)
    private static let secondsRevoked = LongForm.pick(180, short: 20)
    private static let healSecondsMax = 360

    @Test func aRevokedKeyDelaysNoOtherApps() throws {
        let fixture = try LaneAPNSHarness(inFlightMax: 400, connectionsMax: 2, keys: Self.keys, apps: Self.apps)
        let record = Record(fixture)
        let count = (Self.secondsBefore + Self.secondsRevoked) * Self.pushesPerSecond
        fixture.harness.onLoop { record.publish(count, perSecond: Self.pushesPerSecond) }
        let start = fixture.now
        #expect(fixture.harness.run { fixture.now >= start + .seconds(Self.secondsBefore) })
        fixture.harness.onLoop { fixture.revoke(0) }
        #expect(fixture.harness.run { fixture.now >= start + .seconds(Self.secondsBefore + Self.secondsRevoked) })
        fixture.harness.onLoop { fixture.restore(0) }
        let restored = fixture.now
        #expect(fixture.harness.run { fixture.results == count })
        #expect(restored.duration(to: fixture.now) <= .seconds(Self.healSecondsMax))

        let revoked = start + .seconds(Self.secondsBefore)
        let before = record.latencies { $0.published < revoked }
        let during = record.latencies { $0.published >= revoked && $0.app % Self.keys != 0 }
        #expect(during.p99 <= before.p99 * 1.5, "\(before.p99) before, \(during.p99) with a key revoked")
        #expect(record.outcomes.values.allSatisfy { $0 == "accepted after 1" })
        #expect(fixture.pushes.count { $0.status == 200 } == count)
        print("p99 of other apps' pushes on virtual time: \(before.p99), with a key revoked \(during.p99)")
    }
}

/// A record of the publish time, the result time and the outcome of each request.
private final class Record {
    struct Message {
        let app: Int
        let published: MonotonicTime
        var completed: MonotonicTime?
    }

    private let fixture: LaneAPNSHarness
    private var messages: [String: Message] = [:]
    /// The outcome and the number of attempts by request id, such as `accepted after 1`.
    private(set) var outcomes: [String: String] = [:]

    init(_ fixture: LaneAPNSHarness) {
        self.fixture = fixture
        let results = fixture.harness.names.resultsQueue
        fixture.harness.broker.onAppend = { [unowned self] queue, message in
            guard queue.name == results, let root = try? JSONDocument(message.body).root, let id = root["id"]?.string
            else { return }
            outcomes[id] = "\(root["outcome"]?.string ?? "-") after \(root["attempts"]?.int ?? 0)"
            messages[id]?.completed = fixture.harness.loop.now.monotonic
        }
    }

    /// Schedules publishes at a rate. Must be called on the loop.
    func publish(_ count: Int, perSecond rate: Int) {
        for number in 0..<count {
            fixture.harness.loop.schedule(after: .milliseconds(number * 1000 / rate)) { [unowned self] in
                let app = number % 40
                messages[LaneAPNSHarness.id(number)] = Message(app: app, published: fixture.harness.loop.now.monotonic)
                fixture.harness.publish(LaneAPNSHarness.message(number, app: app))
            }
        }
    }

    func latencies(of isIncluded: (Message) -> Bool) -> [Duration] {
        messages.values.filter(isIncluded).compactMap { message in
            message.completed.map { message.published.duration(to: $0) }
        }
    }
}
