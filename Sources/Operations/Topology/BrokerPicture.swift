import Delivery

/// What of a topology is at the broker, as its management API shows it.
struct BrokerPicture: Sendable, Equatable {
    struct Exchange: Sendable, Equatable {
        var kind: String
        /// As text, by name.
        var arguments: [String: String] = [:]
    }

    struct Queue: Sendable, Equatable {
        var arguments: [String: String] = [:]
        /// What policies, the operator's included, come to, which the management shows some seconds late; as text, by key.
        var policy: [String: String] = [:]
        /// Whether the management shows that already.
        var isPolicySeen = true
        /// The policy that applies; empty: none.
        var policyName = ""
        /// The operator policy that applies besides; empty: none.
        var operatorPolicyName = ""
        var consumerCount = 0
        /// Bytes of the bodies that are ready, as of some seconds ago.
        var readyBytes = 0

        /// Both, with a `+` between them; empty: none.
        var policyNames: String {
            [policyName, operatorPolicyName].filter { !$0.isEmpty }.joined(separator: "+")
        }
    }

    var version: BrokerVersion?
    /// Whether it has statistics, with which it shows what policies come to.
    var showsStatistics = true
    /// Of exchanges; nil: not seen.
    var exchangeTypes: Set<String>?
    /// By name, for those that are there.
    var exchanges: [String: Exchange] = [:]
    var queues: [String: Queue] = [:]
    /// From the topology's exchanges to any queues, which `queues` has too, or exchanges.
    var bindings: [Topology.Binding] = []
    /// The topology's own, by name: `Topology.Policy.memberKeys` and definition as text.
    var policies: [String: [String: String]] = [:]
    /// Whether the user may see policies; what they come to is seen at the queues.
    var seesPolicies = true
}
