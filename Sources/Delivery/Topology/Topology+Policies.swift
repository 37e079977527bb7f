/// What a broker is told besides arguments, because it may change, or because versions differ in it.
extension Topology {
    /// RabbitMQ applies one policy to a queue, that of the highest priority whose pattern matches.
    public struct Policy: Sendable, Hashable {
        public let name: String
        /// A regular expression over names of queues.
        public let pattern: String
        public var priority: Int
        public let definition: [Argument]
    }

    /// Workers count deliveries themselves and move what nobody survives to the quarantine; what operators read of the
    /// dead letters they give back. A limit of the broker's would dead-letter the one without a result and drop the other.
    /// Before 4.0 there is none, and -1 is no value that these versions take.
    public func policies(of version: BrokerVersion) -> [Policy] {
        guard version.limitsDeliveries else { return [] }
        return [
            Policy(
                name: "\(names.prefix)-deliveries",
                pattern: Self.anyOf(countedPatterns), priority: 1,
                definition: [.integer("delivery-limit", -1)])
        ]
    }

    /// Queues out of which a limit of deliveries would take messages unseen.
    public var countedQueues: [String] { names.takenQueues + countedBesides }

    private var countedPatterns: [String] {
        names.requestQueues.map { names.pattern(of: $0) } + countedBesides.map(Self.escaped)
    }

    private var countedBesides: [String] {
        [names.quarantineQueue, names.deadQueue] + (takesChannelCommands ? [names.channelsQueue] : [])
    }

    /// A regular expression that matches what one of these does, whole.
    public static func anyOf(_ patterns: [String]) -> String { "^(\(patterns.joined(separator: "|")))$" }

    /// A regular expression that matches the name alone.
    public static func escaped(_ name: String) -> String {
        name.reduce(into: "") { $0 += #".\+*?()[]{}|^$"#.contains($1) ? "\\\($1)" : String($1) }
    }
}
