public import AMQP
public import BrokerTopology

/// A declaration of a topology at a broker, with a report of each step.
public struct TopologyDeclarer {
    /// A step for one exchange, queue, binding or policy, with its result.
    public struct Step: Equatable {
        public enum Result: Equatable {
            case created
            case present
            /// An object that existed with other properties.
            case changed
            /// A binding that exists now. AMQP does not show whether it existed before.
            case bound
            /// A binding that does not exist now. AMQP does not show whether it existed before.
            case unbound
            /// A deleted exchange, which was the source of no binding.
            case deleted
            /// An object that receives no new messages. The text is the remedy.
            case unused(String)
            /// An object that the declarer does not change, although the object differs from the topology or does not
            /// belong to it. The text is the reason and the remedy.
            case kept(String)
            case failed(String)
        }
        /// The object, such as `exchange push.results`.
        public let subject: String
        public let result: Result
    }

    let topology: Topology
    let admin: BrokerAdmin
    /// The broker's version; nil if unknown, for example because the broker is not RabbitMQ.
    let version: BrokerVersion?
    /// The broker's objects before the declaration; nil without the management API.
    let snapshot: BrokerSnapshot?
    let advice: TopologyAdvice
    let report: (Step) -> Void
    private(set) var failures = 0
    /// Queues that this declaration created, and which therefore have no earlier bindings.
    private(set) var newQueues: Set<String> = []
    /// Existing queues with the broker's delivery limit, which only a policy can turn off.
    private(set) var limitedQueues: [String] = []

    /// Creates a declarer.
    ///
    /// - Parameters:
    ///   - admin: an administrator whose connection is ready.
    ///   - version: nil if unknown.
    ///   - report: called after each step, except a temporary step that succeeds.
    public init(
        _ topology: Topology, admin: BrokerAdmin, version: BrokerVersion? = nil, snapshot: BrokerSnapshot? = nil,
        advice: TopologyAdvice = TopologyAdvice(virtualHost: "/"), report: @escaping (Step) -> Void
    ) {
        self.topology = topology
        self.admin = admin
        self.version = version
        self.snapshot = snapshot
        self.advice = advice
        self.report = report
    }

    /// Declares exchanges, queues and bindings. Continues after a step that the broker refuses.
    ///
    /// - Parameter former: bindings of earlier configurations, to remove. After a failed step, bindings whose removal
    ///   could lose messages are kept.
    /// - Returns: the number of steps that failed.
    /// - Throws: if the connection is lost.
    public mutating func declare(removing former: [Topology.Binding] = []) async throws(AMQPError) -> Int {
        for exchange in topology.exchanges {
            let migration = advice.migrate(exchange: exchange.name)
            try await step("exchange \(exchange.name)", migration: migration) { admin throws(AMQPError) in
                let exists = try await admin.exchangeExists(exchange.name)
                try await admin.declare(exchange)
                return exists ? .present : .created
            }
        }
        for queue in topology.queues(at: version) { try await declare(queue) }
        let stale = staleBindings(former)
        let staleOfRequests = try await staleBindingsOfRequests(in: stale)
        if try await bindRequests(replacing: staleOfRequests) {
            for binding in staleOfRequests { try await remove(binding) }
        } else {
            for binding in staleOfRequests { keep(binding) }
        }
        let ofRequests = topology.shardings.flatMap(\.bindings)
        for binding in topology.bindings where !ofRequests.contains(binding) { try await bind(binding) }
        try await remove(stale.filter { !staleOfRequests.contains($0) })
        reportForeignBindings(except: former)
        try await reportRetryExchange()
        return failures
    }

    private mutating func declare(_ queue: Topology.Queue) async throws(AMQPError) {
        let bounds = topology.isBounded(queue.name) ? advice.bound(queue: queue.name, topology.results) : nil
        let isBoundedByPolicy = snapshot?.queues[queue.name]?.isBoundedByPolicy == true
        var (isLimited, isNew) = (false, false)
        let migration = advice.migrate(queue)
        try await step("queue \(queue.name)", migration: migration) { admin throws(AMQPError) in
            let exists = try await admin.queueExists(queue.name)
            do throws(AMQPError) {
                isLimited = try await admin.declare(queue) == .withBrokersDeliveryLimit
            } catch {
                guard let bounds, error.isAboutBounds else { throw error }
                return isBoundedByPolicy ? .present : .kept("the queue has other bounds (\(error.message)); \(bounds)")
            }
            isNew = !exists
            return exists ? .present : .created
        }
        if isNew { newQueues.insert(queue.name) }
        if isLimited { limitedQueues.append(queue.name) }
    }

    /// Reports the exchange with which early versions delayed requests. Its queues still return their messages.
    private mutating func reportRetryExchange() async throws(AMQPError) {
        let names = topology.names
        guard try await exchangeExists(names.formerRetryExchange) else { return }
        report(
            Step(
                subject: "exchange \(names.formerRetryExchange) and its queues",
                result: .unused(
                    "replaced by \(names.waitQueuePrefix)*; once the queues are empty, delete the queues and the "
                        + "exchange")))
    }
}

/// Bindings.
extension TopologyDeclarer {
    /// Returns the bindings to remove. Some may be missing at the broker. The steps of a sharding remove its own
    /// bindings.
    private func staleBindings(_ former: [Topology.Binding]) -> [Topology.Binding] {
        let stale = snapshot?.staleBindings(of: topology) ?? topology.formerBindings
        let ofShardings = topology.shardings.flatMap(\.formerBindings)
        return (stale + former.filter { !stale.contains($0) }).filter { !ofShardings.contains($0) }
    }

    private mutating func remove(_ stale: [Topology.Binding]) async throws(AMQPError) {
        for binding in stale {
            // After a failed step, the stale binding may be the only binding for dead letters.
            if failures > 0, binding.exchange == topology.names.brokerDeadLettersExchange {
                keep(binding)
            } else {
                try await remove(binding)
            }
        }
    }

    private func keep(_ binding: Topology.Binding) {
        report(
            Step(
                subject: binding.text,
                result: .kept("an earlier step failed; fix the cause and \(TopologyAdvice.apply) again")))
    }

    private func reportForeignBindings(except former: [Topology.Binding]) {
        guard let snapshot else { return }
        for binding in snapshot.foreignBindings(of: topology) where !former.contains(binding) {
            report(Step(subject: binding.text, result: .kept(snapshot.advice(onForeign: binding))))
        }
    }

    /// Creates a binding as one step.
    ///
    /// - Parameter isTemporary: whether a later step removes the binding. A temporary binding is reported only if its
    ///   step fails.
    @discardableResult
    mutating func bind(_ binding: Topology.Binding, isTemporary: Bool = false) async throws(AMQPError) -> Bool {
        let existed = snapshot?.bindings.contains(binding)
        return try await step(binding.text, isReported: !isTemporary) { admin throws(AMQPError) in
            try await admin.bind(binding)
            return switch existed {
            case true?: .present
            case false?: .created
            case nil: .bound
            }
        }
    }

    private mutating func remove(_ binding: Topology.Binding) async throws(AMQPError) {
        guard try await mayExist(binding) else { return }
        guard !topology.bindings.contains(binding) else {
            failures += 1
            let reason = "this configuration needs the binding; omit this --former option"
            return report(Step(subject: binding.removalText, result: .failed(reason)))
        }
        try await unbind(binding)
    }

    @discardableResult
    mutating func unbind(_ binding: Topology.Binding, isTemporary: Bool = false) async throws(AMQPError) -> Bool {
        try await step(binding.removalText, isReported: !isTemporary) { admin throws(AMQPError) in
            try await admin.unbind(binding)
            return .unbound
        }
    }
}

/// Single steps.
extension TopologyDeclarer {
    /// Returns true if the queue exists, or if the broker refuses to show it. After a refusal, the next step fails
    /// with the reason.
    func mayExist(_ queue: String) async throws(AMQPError) -> Bool {
        do {
            return try await admin.queueExists(queue)
        } catch {
            guard !error.isUnreachable else { throw error }
            return true
        }
    }

    /// Returns false if the binding cannot exist, because its queue is new or missing.
    func mayExist(_ binding: Topology.Binding) async throws(AMQPError) -> Bool {
        guard let queue = binding.queue else { return true }
        guard !newQueues.contains(queue) else { return false }
        return try await mayExist(queue)
    }

    /// Returns whether the exchange exists and the broker shows it.
    func exchangeExists(_ exchange: String) async throws(AMQPError) -> Bool {
        do {
            return try await admin.exchangeExists(exchange)
        } catch {
            guard !error.isUnreachable else { throw error }
            return false
        }
    }

    /// Performs one step.
    ///
    /// - Parameters:
    ///   - isReported: whether to report success. A failed step is always reported.
    ///   - migration: the remedy for an existing object that differs from its declaration; nil if the step declares
    ///     no exchange and no queue.
    /// - Returns: whether the step succeeded.
    @discardableResult
    mutating func step(
        _ subject: String, isReported: Bool = true, migration: String? = nil,
        _ act: (BrokerAdmin) async throws(AMQPError) -> Step.Result
    ) async throws(AMQPError) -> Bool {
        do {
            let result = try await act(admin)
            if isReported { report(Step(subject: subject, result: result)) }
            return true
        } catch {
            guard !error.isUnreachable else { throw error }
            failures += 1
            report(Step(subject: subject, result: .failed(Self.reason(for: error, migration))))
            return false
        }
    }

    /// Returns the reason for a refusal, and the remedy if one is known.
    private static func reason(for error: AMQPError, _ migration: String?) -> String {
        if let migration, case .inequivalentArgument = error.detail { return "\(error.message); \(migration)" }
        return switch error.code {
        case .accessRefused: "the user lacks the permission (\(error.message))"
        case .refused where error.detail == .unknownExchangeType: "\(TopologyAdvice.plugin) (\(error.message))"
        default: error.message
        }
    }
}

extension Topology.Binding {
    /// The text of a step that removes the binding, such as `push.requests from push.requests by #`.
    fileprivate var removalText: String { "\(shownDestination) from \(exchange)\(keyText)" }
}
