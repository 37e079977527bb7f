import AMQP
import BrokerTopology
import Crypto
import EventLoop
import TestKit
import Testing

@testable import MartletCLI

/// The lines of `martlet doctor` about the streams of fleet control, with scripted brokers as the hosts of a cluster.
@Suite(.timeLimit(.minutes(5))) struct FleetControlCheckTests {
    private let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory("doctor-fleet")
        try folder.write("AuthKey.p8", try ES256PrivateKey.generate().pkcs8PEM())
    }

    private typealias Refusals = [String: (code: UInt16, text: String)]

    private static func noReplica(_ stream: String) -> Refusals {
        [stream: (406, "PRECONDITION_FAILED - queue '\(stream)' does not have a running replica on the local node")]
    }

    /// Checks a cluster.
    ///
    /// - Parameter hosts: the streams that each host refuses to read.
    /// - Returns: the lines, with `host 1` and so on in place of addresses.
    private func lines(_ hosts: [Refusals], section: String = "fleet: {}") async throws -> [DoctorLine] {
        let folder = folder
        return try await onEpollLoop { loop in
            var brokers: [ScriptedBroker] = []
            for refusals in hosts {
                let broker = ScriptedBroker(loop: loop, endpoint: Endpoint(host: "127.0.0.1", port: 0))
                broker.behavior.consumeRefusals = refusals
                Topology(names: TopologyNames(), hasFleetControl: true).declare(at: broker)
                try broker.start()
                brokers.append(broker)
            }
            let addresses = brokers.map(\.endpoint.description)
            let path = try folder.write(
                "martlet.yaml",
                """
                amqp: {url: "amqp://guest:guest@\(addresses.joined(separator: ","))"}
                apns: {keys: [{key_id: ABC123DEFG, team_id: DEF123GHIJ, key_file: AuthKey.p8}]}
                apps: {com.example.app: {}}
                \(section)
                """)
            var lines = await DoctorCheck.fleetControl.lines(DoctorContext(path), on: loop)
            try await loop.wait { brokers.allSatisfy { $0.connectionCount == 0 } }
            for broker in brokers { broker.crash() }
            for (number, address) in addresses.enumerated() {
                for index in lines.indices {
                    lines[index].text = lines[index].text.replacing(address, with: "host \(number + 1)")
                }
            }
            return lines
        }
    }

    @Test func aHostWithBothStreamsIsSufficient() async throws {
        #expect(
            try await lines([[:]]) == [.ok("fleet control", "host 1: workers can read pauses and commands")])
        #expect(
            try await lines([[:], [:]])
                == [.ok("fleet control", "host 1, host 2: workers can read pauses and commands")])
    }

    @Test func aHostWithoutAReplicaIsAWarning() async throws {
        let found = try await lines([Self.noReplica("push.commands"), [:]])
        #expect(
            found == [
                .ok("fleet control", "host 2: workers can read pauses and commands (1 of 2 hosts)"),
                .warning(
                    "fleet control", "host 1 has no replica of stream push.commands",
                    remedy: "to add a replica on the node of this host, run: rabbitmq-streams add_replica --vhost '/' "
                        + "'push.commands' NODE"),
            ])
    }

    // A worker reads both streams on one connection.
    @Test func streamsOnDifferentHostsAreAFailure() async throws {
        let found = try await lines([Self.noReplica("push.commands"), Self.noReplica("push.pauses")])
        #expect(found.map(\.state) == [.failure, .failure])
        #expect(
            found.map(\.text) == [
                "host 1 has no replica of stream push.commands", "host 2 has no replica of stream push.pauses",
            ])
    }

    // Other checks report missing streams and permissions.
    @Test func anotherErrorIsNotChecked() async throws {
        let refused: Refusals = ["push.pauses": (403, "ACCESS_REFUSED - read access to queue 'push.pauses' refused")]
        let found = try await lines([refused])
        #expect(found.map(\.state) == [.unseen])
        #expect(found[0].text.hasPrefix("host 1: whether stream push.pauses has a replica: "))
    }

    @Test func withoutFleetControlThereIsNothingToCheck() async throws {
        #expect(try await lines([[:]], section: "") == [])
    }
}
