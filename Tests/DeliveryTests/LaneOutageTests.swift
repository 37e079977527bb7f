import AMQP
import APNS
import APNSProtocol
import APNSSimulator
import Crypto
import EventLoop
import Telemetry
import TestKit
import Testing

@testable import Delivery

/// A lane whose way to APNs is lost while there is much to do, on virtual time.
@Suite struct LaneOutageTests {
    enum Ending: CaseIterable {
        case cut
        /// The connections are ended in order, what is open on them is answered.
        case goAway
    }

    @Test(arguments: Ending.allCases, [1, 2])
    func noMoreIsPublishedThanWasInFlight(_ ending: Ending, connectionsMax: Int) throws {
        let scene = try Scene(connectionsMax: connectionsMax)
        let outageSeconds = 180
        scene.request(300)
        // As many as may be are on their way.
        try #require(scene.rig.run { scene.pushes.count >= 10 * LaneRig.inFlightMax })
        let published = scene.results
        scene.lose(ending)
        let lost = scene.now
        #expect(scene.rig.run { scene.now >= lost + .seconds(outageSeconds) })
        // While all is held, one message a minute is looked at.
        #expect(scene.results + scene.waits - published <= LaneRig.inFlightMax + outageSeconds / 60)
        #expect(scene.rig.stops == 1)

        scene.network.set(.open, to: .sandbox)
        let back = scene.now
        let pushes = scene.pushes.count
        #expect(scene.rig.run { scene.pushes.count > pushes })
        #expect(scene.now <= back + .seconds(10))
        #expect(scene.rig.run { scene.rig.counters.outcomes[.accepted]?.value == 300 })
        #expect(scene.results == 300)
    }

    @Test(arguments: Ending.allCases) func aConnectionThatIsReplacedAtOnceHoldsNothingUp(_ ending: Ending) throws {
        let scene = try Scene(connectionsMax: 1)
        scene.request(300)
        for rounds in [5, 10, 15] {
            try #require(scene.rig.run { scene.pushes.count >= rounds * LaneRig.inFlightMax })
            scene.end(ending)
        }
        #expect(scene.rig.run { scene.results == 300 })
        #expect(scene.waits <= (ending == .cut ? 3 * LaneRig.inFlightMax : 0))
        #expect(scene.rig.stops == 0)
    }

    @Test func anIdleConnectionIsNotReplaced() throws {
        let scene = try Scene(connectionsMax: 1)
        scene.request(1)
        try #require(scene.rig.run { scene.results == 1 && scene.rig.counters.inFlight.value == 0 })
        scene.end(.cut)
        let later = scene.now + .seconds(600)
        #expect(scene.rig.run { scene.now >= later })
        #expect(scene.connections == 1)
        scene.request(1, from: 1)
        #expect(scene.rig.run { scene.results == 2 })
        #expect(scene.connections == 2)
    }
}

/// A lane, APNs, and a way between them.
private final class Scene {
    let rig: LaneRig
    let network = SimulatedNetwork()
    private let apns: SimulatorServer
    private let seen = Seen()
    private static let endpoint = SimulatedNetwork.apns(.sandbox, worker: 0)

    final class Seen {
        var pushes: [LoggedRequest] = []
    }

    init(connectionsMax: Int) throws {
        let privateKey = try #require(SimulatedApps.privateKey)
        let key = try ProviderKey(
            privateKey: privateKey, keyID: SimulatedApps.keyID(0), teamID: SimulatedApps.teamID(0))
        var pool = PoolConfiguration(environment: .sandbox, key: key)
        pool.connectionsMax = connectionsMax
        let app = AppDirectory.App(
            bundleID: SimulatedApps.bundleID(0), defaultEnvironment: .sandbox, sandboxPool: 0)
        rig = try LaneRig(apps: [app], pools: [pool]) { [network] loop in
            [
                SimulatedConnector(loop: loop, endpoint: Self.endpoint, host: SimulatedHost()) {
                    network.way(to: .sandbox)
                }
            ]
        }
        var configuration = SimulatorConfiguration()
        configuration.answerDelay = .milliseconds(100)
        let state = SimulatorState.simulated(publicKey: try privateKey.publicKey())
        let loop = rig.loop
        apns = try loop.enter {
            let apns = SimulatorServer(loop: loop, configuration: configuration, state: state)
            try apns.listen(on: Self.endpoint, as: Service(.sandbox, .push))
            return apns
        }
        apns.memory.onRequest = { [seen] request, _ in seen.pushes.append(request) }
        let isReady = rig.run { rig.isReady }
        try #require(isReady)
    }

    var now: MonotonicTime { rig.loop.now.monotonic }
    var pushes: [LoggedRequest] { seen.pushes }
    var results: Int { rig.broker.queue(rig.names.resultsQueue)?.published ?? 0 }
    /// What was published to wait.
    var waits: Int { rig.counters.retries.value }
    var connections: Int { rig.loop.network.connections.count { $0.endpoint == Self.endpoint } }

    func request(_ count: Int, from first: Int = 0) {
        for number in first..<first + count {
            let digits = String(number, radix: 16)
            let id = "6f1c7c1e-3c52-4a53-9c1b-" + String(repeating: "0", count: 12 - digits.count) + digits
            rig.request(
                #"""
                {"id":"\#(id)","app":"\#(SimulatedApps.bundleID(0))","device_token":"aabb","push_type":"alert",
                 "payload":{"aps":{"alert":"x"}}}
                """#)
        }
    }

    /// Nothing leads to APNs from now on.
    func lose(_ ending: LaneOutageTests.Ending) {
        network.set(.refused, to: .sandbox)
        end(ending)
    }

    func end(_ ending: LaneOutageTests.Ending) {
        rig.onLoop {
            switch ending {
            case .cut: for connection in open { connection.cut() }
            case .goAway: _ = try? apns.perform(.goAway(FaultGoAway()))
            }
        }
    }

    private var open: [VirtualConnection] {
        rig.loop.network.connections.filter { $0.isOpen && $0.endpoint == Self.endpoint }
    }
}
