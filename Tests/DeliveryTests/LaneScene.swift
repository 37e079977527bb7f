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

/// Lanes of one process, APNs, and a way between them.
final class LaneScene {
    let rig: LaneRig
    let network = SimulatedNetwork()
    private let apns: SimulatorServer
    private let seen = Seen()
    private static let endpoint = SimulatedNetwork.apns(.sandbox, worker: 0)

    final class Seen {
        var pushes: [LoggedRequest] = []
    }

    init(lanes: Int = 1, connectionsMax: Int = 1) throws {
        let privateKey = try #require(SimulatedApps.privateKey)
        let key = try ProviderKey(
            privateKey: privateKey, keyID: SimulatedApps.keyID(0), teamID: SimulatedApps.teamID(0))
        var pool = PoolConfiguration(environment: .sandbox, key: key)
        pool.connectionsMax = connectionsMax
        let app = AppDirectory.App(
            bundleID: SimulatedApps.bundleID(0), defaultEnvironment: .sandbox, sandboxPool: 0)
        rig = try LaneRig(lanes: lanes, apps: [app], pools: [pool]) { [network] loop in
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
