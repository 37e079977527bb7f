import APNSSimulator
import BrokerTopology
import Crypto
import EventLoop
import JSON
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// Forty apps with four keys at a steady rate, and then one of the keys is revoked for a while: exactly, since on virtual
/// time nothing else takes any.
@Suite struct LaneRevokedKeyTests {
    private static let (keys, apps) = (4, 40)
    private static let pushesPerSecond = LongForm.pick(500, short: 100)
    private static let secondsBefore = LongForm.pick(30, short: 5)
    private static let secondsRevoked = LongForm.pick(180, short: 20)
    private static let healSecondsMax = 360

    @Test func itDelaysNoOtherAppsPushes() throws {
        let scene = try LaneAPNSHarness(inFlightMax: 400, connectionsMax: 2, keys: Self.keys, apps: Self.apps)
        let record = Record(scene)
        let count = (Self.secondsBefore + Self.secondsRevoked) * Self.pushesPerSecond
        scene.harness.onLoop { record.publish(count, perSecond: Self.pushesPerSecond) }
        let start = scene.now
        #expect(scene.harness.run { scene.now >= start + .seconds(Self.secondsBefore) })
        scene.harness.onLoop { scene.revoke(0) }
        #expect(scene.harness.run { scene.now >= start + .seconds(Self.secondsBefore + Self.secondsRevoked) })
        scene.harness.onLoop { scene.restore(0) }
        let restored = scene.now
        #expect(scene.harness.run { scene.results == count })
        #expect(restored.duration(to: scene.now) <= .seconds(Self.healSecondsMax))

        let revoked = start + .seconds(Self.secondsBefore)
        let before = record.latencies { $0.published < revoked }
        let during = record.latencies { $0.published >= revoked && $0.app % Self.keys != 0 }
        #expect(during.p99 <= before.p99 * 1.5, "\(before.p99) before, \(during.p99) with a key revoked")
        #expect(record.told.values.allSatisfy { $0 == "accepted after 1" })
        #expect(scene.pushes.count { $0.status == 200 } == count)
        print("p99 of other apps' pushes on virtual time: \(before.p99), with a key revoked \(during.p99)")
    }
}

/// When each message was published and told.
private final class Record {
    struct Message {
        let app: Int
        let published: MonotonicTime
        var told: MonotonicTime?
    }

    private let scene: LaneAPNSHarness
    private var messages: [String: Message] = [:]
    /// By id.
    private(set) var told: [String: String] = [:]

    init(_ scene: LaneAPNSHarness) {
        self.scene = scene
        let results = scene.harness.names.resultsQueue
        scene.harness.broker.onAppend = { [unowned self] queue, message in
            guard queue.name == results, let root = try? JSONDocument(message.body).root, let id = root["id"]?.string
            else { return }
            told[id] = "\(root["outcome"]?.string ?? "-") after \(root["attempts"]?.int ?? 0)"
            messages[id]?.told = scene.harness.loop.now.monotonic
        }
    }

    /// To be called on the loop.
    func publish(_ count: Int, perSecond rate: Int) {
        for number in 0..<count {
            scene.harness.loop.schedule(after: .milliseconds(number * 1000 / rate)) { [unowned self] in
                let app = number % 40
                messages[LaneAPNSHarness.id(number)] = Message(app: app, published: scene.harness.loop.now.monotonic)
                scene.harness.publish(LaneAPNSHarness.message(number, app: app))
            }
        }
    }

    func latencies(of isMeant: (Message) -> Bool) -> [Duration] {
        messages.values.filter(isMeant).compactMap { message in message.told.map { message.published.duration(to: $0) }
        }
    }
}
