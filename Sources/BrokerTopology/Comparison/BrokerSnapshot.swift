/// What exists of a topology at the broker, as its management API shows it.
public struct BrokerSnapshot: Sendable, Equatable {
    public struct Exchange: Sendable, Equatable {
        public var kind: String
        /// As text, by name.
        public var arguments: [String: String]

        public init(kind: String, arguments: [String: String] = [:]) {
            self.kind = kind
            self.arguments = arguments
        }
    }

    public struct Queue: Sendable, Equatable {
        public var arguments: [String: String]
        /// What all policies together set, as text, by key. The management API shows it some seconds late.
        public var policy: [String: String]
        /// Whether the management API shows `policy` already.
        public var isPolicySeen: Bool
        /// The policy that applies; empty: none.
        public var policyName: String
        /// The operator policy that applies besides; empty: none.
        public var operatorPolicyName: String
        public var consumerCount: Int
        /// Bytes of the bodies that are ready, some seconds ago.
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

        /// Both policies, with a `+` between them; empty: none.
        public var policyNames: String {
            [policyName, operatorPolicyName].filter { !$0.isEmpty }.joined(separator: "+")
        }

        /// Whether policies bound the queue, whatever its arguments.
        public var isBoundedByPolicy: Bool { Topology.boundKeys.allSatisfy { policy[$0] != nil } }
    }

    public var version: BrokerVersion?
    /// Whether the broker has statistics, without which it does not show what policies set.
    public var showsStatistics = true
    /// nil: not seen.
    public var exchangeTypes: Set<String>?
    /// Existing exchanges, by name.
    public var exchanges: [String: Exchange] = [:]
    /// Existing queues, by name.
    public var queues: [String: Queue] = [:]
    /// From the topology's exchanges to exchanges and to any queues, which `queues` also has.
    public var bindings: [Topology.Binding] = []
    /// The topology's own policies by name: `Topology.Policy.memberKeys` and the definition, as text.
    public var policies: [String: [String: String]] = [:]
    /// Whether the user may see policies. What they set is part of the queues.
    public var seesPolicies = true

    public init() {}
}
