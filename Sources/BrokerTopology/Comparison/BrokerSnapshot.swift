/// The objects of a topology that exist at a broker, as the management API shows them. A snapshot also contains other
/// queues that are bound to the topology's exchanges.
public struct BrokerSnapshot: Sendable, Equatable {
    public struct Exchange: Sendable, Equatable {
        public var kind: String
        /// The arguments as text, by name.
        public var arguments: [String: String]

        public init(kind: String, arguments: [String: String] = [:]) {
            self.kind = kind
            self.arguments = arguments
        }
    }

    public struct Queue: Sendable, Equatable {
        public var arguments: [String: String]
        /// The effective settings of all policies as text, by key. The management API shows them some seconds late.
        public var policy: [String: String]
        /// Whether the management API has returned `policy`.
        public var isPolicySeen: Bool
        /// The name of the policy that applies; empty if none applies.
        public var policyName: String
        /// The name of the operator policy that applies in addition; empty if none applies.
        public var operatorPolicyName: String
        public var consumerCount: Int
        /// The number of bytes in the bodies of ready messages. The management API shows it some seconds late.
        public var readyBytes: Int

        public init(
            arguments: [String: String] = [:], policy: [String: String] = [:], isPolicySeen: Bool = true,
            policyName: String = "", operatorPolicyName: String = "", consumerCount: Int = 0, readyBytes: Int = 0
        ) {
            self.arguments = arguments
            self.policy = policy
            self.isPolicySeen = isPolicySeen
            self.policyName = policyName
            self.operatorPolicyName = operatorPolicyName
            self.consumerCount = consumerCount
            self.readyBytes = readyBytes
        }

        /// The names of the policy and the operator policy, separated by `+`; empty if none applies.
        public var policyNames: String {
            [policyName, operatorPolicyName].filter { !$0.isEmpty }.joined(separator: "+")
        }

        /// Whether policies set every bound of the queue, regardless of its arguments.
        public var isBoundedByPolicy: Bool { Topology.boundKeys.allSatisfy { policy[$0] != nil } }
    }

    public var version: BrokerVersion?
    /// Whether statistics are enabled. Without them, the broker does not show effective policies.
    public var showsStatistics = true
    /// The enabled exchange types; nil if the broker does not show them.
    public var exchangeTypes: Set<String>?
    /// Existing exchanges, by name.
    public var exchanges: [String: Exchange] = [:]
    /// Existing queues, by name.
    public var queues: [String: Queue] = [:]
    /// Bindings from the topology's exchanges to exchanges and queues. `queues` contains the queues among the
    /// destinations.
    public var bindings: [Topology.Binding] = []
    /// The topology's policies by name. Each value contains the members of `Topology.Policy.memberKeys` and the
    /// definition, as text.
    public var policies: [String: [String: String]] = [:]
    /// Whether the user may read policies. `Queue.policy` does not depend on this permission.
    public var seesPolicies = true

    public init() {}
}
