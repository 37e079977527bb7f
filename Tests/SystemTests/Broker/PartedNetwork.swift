import Glibc
import TestKit

/// Has packets between the nodes of a cluster lost without a word, as a network does: by rules of iptables, in a network
/// of this process's own, which `deploy/trial/cluster` makes where it is root.
struct PartedNetwork {
    static let isThere = Glibc.getenv("MARTLET_OWN_NETWORK") != nil

    /// The group of users of the first node; that of each other follows.
    static let firstGroup = 60_001

    private let ports: String

    /// Has the kernel know whose a connection is by the groups of who is at its ends.
    init(_ cluster: PrivateCluster) async throws {
        ports = cluster.nodes.map { "\($0.distributionPort)" }.joined(separator: ",")
        for node in cluster.nodes.indices {
            try await Self.change(
                "-A", "OUTPUT", "-m", "owner", "--gid-owner", "\(Self.firstGroup + node)", "-j", "CONNMARK",
                "--or-mark", "\(1 << node)")
        }
    }

    /// Cuts a node off from the others, though not from its clients.
    func part(_ node: Int) async throws { try await Self.change(["-A"] + lost(node)) }

    func heal(_ node: Int) async throws { try await Self.change(["-D"] + lost(node)) }

    private func lost(_ node: Int) -> [String] {
        [
            "INPUT", "-p", "tcp", "-m", "connmark", "--mark", "\(1 << node)/\(1 << node)", "-m", "multiport", "--ports",
            ports, "-j", "DROP",
        ]
    }

    private static func change(_ arguments: String...) async throws { try await change(arguments) }

    private static func change(_ arguments: [String]) async throws {
        let result = try await ChildProcess.run(["iptables", "--wait"] + arguments)
        guard result.exit.status == .exited(0) else { throw ProcessError("iptables \(arguments): \(result.errors)") }
    }
}
