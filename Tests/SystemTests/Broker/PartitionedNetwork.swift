import Glibc
import TestKit

/// A network that silently drops packets between the nodes of a cluster.
///
/// iptables rules in this process's own network namespace drop the packets. The script `deploy/trial/cluster` creates
/// the namespace if it runs as root.
struct PartitionedNetwork {
    /// Whether the process runs in its own network namespace.
    static let isAvailable = Glibc.getenv("MARTLET_OWN_NETWORK") != nil

    /// The group ID of the first node's process. Each further node has the next ID.
    static let firstGroup = 60_001

    private let ports: String

    /// Adds rules that mark each connection with the nodes at its ends. The group IDs identify the nodes.
    init(_ cluster: PrivateCluster) async throws {
        ports = cluster.nodes.map { "\($0.distributionPort)" }.joined(separator: ",")
        for node in cluster.nodes.indices {
            try await Self.change(
                "-A", "OUTPUT", "-m", "owner", "--gid-owner", "\(Self.firstGroup + node)", "-j", "CONNMARK",
                "--or-mark", "\(1 << node)")
        }
    }

    /// Cuts a node off from the other nodes, but not from its clients.
    func partition(_ node: Int) async throws { try await Self.change(["-A"] + rule(node)) }

    /// Reconnects a node that `partition(_:)` cut off.
    func heal(_ node: Int) async throws { try await Self.change(["-D"] + rule(node)) }

    private func rule(_ node: Int) -> [String] {
        [
            "INPUT", "-p", "tcp", "-m", "connmark", "--mark", "\(1 << node)/\(1 << node)", "-m", "multiport", "--ports",
            ports, "-j", "DROP",
        ]
    }

    private static func change(_ arguments: String...) async throws { try await change(arguments) }

    private static func change(_ arguments: [String]) async throws {
        let result = try await ChildProcess.run(["iptables", "--wait"] + arguments)
        guard result.exit.status == .exited(0) else {
            throw ProcessError("cannot run iptables \(arguments): \(result.errors)")
        }
    }
}
