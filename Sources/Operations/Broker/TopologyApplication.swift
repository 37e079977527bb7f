import AMQP
import Delivery

/// Declares a topology at a broker, and reports what was there and what is new.
struct TopologyApplication {
    /// What became of one exchange, queue or binding.
    struct Step: Equatable {
        enum Result: Equatable {
            case created
            case present
            /// It was there and said something else.
            case changed
            /// There now; a broker does not say whether it was before.
            case bound
            /// Not there now, as above.
            case unbound
            /// It led nowhere any more.
            case deleted
            /// It is there, and nothing leads to it any more: what to do with it.
            case unused(String)
            /// It is there otherwise than the configuration has it, which harms no worker: what to do about it.
            case kept(String)
            case failed(String)
        }
        /// `exchange push.results`.
        var subject: String
        var result: Result

        /// One line for an operator.
        var text: String {
            switch result {
            case .created: "created  \(subject)"
            case .present: "present  \(subject)"
            case .changed: "changed  \(subject)"
            case .bound: "bound    \(subject)"
            case .unbound: "unbound  \(subject)"
            case .deleted: "deleted  \(subject)"
            case .unused(let advice): "unused   \(subject): \(advice)"
            case .kept(let advice): "kept     \(subject): \(advice)"
            case .failed(let reason): "failed   \(subject): \(reason)"
            }
        }
    }

    private let admin: BrokerAdmin
    /// nil: unknown, as of a broker that is not RabbitMQ.
    private let version: BrokerVersion?
    /// What the management showed before; nil: only what AMQP shows is known.
    private let picture: BrokerPicture?
    private let advice: TopologyAdvice
    private let report: (Step) -> Void
    private var failures = 0
    /// Nothing can be bound to them from before.
    private var newQueues: Set<String> = []
    /// Queues that exist with the broker's delivery limit, which only a policy turns off.
    private(set) var limitedQueues: [String] = []

    /// - Parameters:
    ///   - version: nil if unknown.
    ///   - report: called for each step as it is done.
    init(
        admin: BrokerAdmin, version: BrokerVersion? = nil, picture: BrokerPicture? = nil,
        advice: TopologyAdvice = TopologyAdvice(virtualHost: "/"), report: @escaping (Step) -> Void
    ) {
        self.admin = admin
        self.version = version
        self.picture = picture
        self.advice = advice
        self.report = report
    }

    /// Goes on after a step that the broker refuses, so that all are tried; ends when the connection is lost.
    ///
    /// - Parameter former: bindings of earlier configurations, to be taken away.
    /// - Returns: how many failed.
    mutating func apply(_ topology: Topology, former: [Topology.Binding] = []) async throws(AMQPError) -> Int {
        for exchange in topology.exchanges {
            try await step("exchange \(exchange.name)") { admin throws(AMQPError) in
                let exists = try await admin.exchangeExists(exchange.name)
                try await admin.declare(exchange)
                return exists ? .present : .created
            }
        }
        for queue in topology.queues(at: version) {
            let bounds = topology.isBounded(queue.name) ? advice.bound(queue: queue.name, topology.results) : nil
            let isBoundedByPolicy = picture?.queues[queue.name]?.isBoundedByPolicy == true
            var (isLimited, isNew) = (false, false)
            try await step("queue \(queue.name)") { admin throws(AMQPError) in
                let exists = try await admin.queueExists(queue.name)
                do throws(AMQPError) {
                    isLimited = try await admin.declare(queue) == .withBrokersDeliveryLimit
                } catch {
                    guard let bounds, error.isAboutBounds else { throw error }
                    return isBoundedByPolicy ? .present : .kept("it has other bounds (\(error.message)); \(bounds)")
                }
                isNew = !exists
                return exists ? .present : .created
            }
            if isNew { newQueues.insert(queue.name) }
            if isLimited { limitedQueues.append(queue.name) }
        }
        // Before the others: in the order of their steps no request reaches two queues, or none.
        var led: [Topology.Binding] = []
        for sharding in topology.shardings where try await lead(sharding) { led += sharding.bindings }
        for binding in topology.bindings where !led.contains(binding) { try await bind(binding) }
        let stale = picture?.staleBindings(of: topology) ?? topology.formerBindings
        let seenTo = topology.shardings.flatMap(\.formerBindings)
        for binding in stale + former.filter({ !stale.contains($0) }) where !seenTo.contains(binding) {
            // It is the only way of dead letters while another step failed.
            if failures > 0, binding.exchange == topology.names.brokerDeadLettersExchange {
                report(
                    Step(subject: binding.text, result: .kept("a step before failed; apply again once it is mended")))
            } else {
                try await unbind(binding, topology)
            }
        }
        reportForeignBindings(of: topology, except: former)
        try await lookForRetryExchange(of: topology.names)
        return failures
    }

    private func reportForeignBindings(of topology: Topology, except former: [Topology.Binding]) {
        guard let picture else { return }
        for binding in picture.foreignBindings(of: topology) where !former.contains(binding) {
            report(Step(subject: binding.text, result: .kept(picture.advice(onForeign: binding))))
        }
    }

    /// Has requests come to a queue, or to its shards, from now on; ends with a step that fails, after which all of them
    /// come where they came before it.
    ///
    /// - Returns: false where there are no shards and were none: the queue is bound as any other.
    private mutating func lead(_ sharding: Topology.Sharding) async throws(AMQPError) -> Bool {
        if !sharding.isSharded {
            guard try await isThere(exchange: sharding.exchange) else { return false }
        } else if let picture, sharding.isDone(picture.bindings) {
            for binding in sharding.bindings { report(Step(subject: binding.text, result: .present)) }
            return true
        }
        for step in sharding.steps { guard try await take(step, of: sharding) else { return true } }
        guard !sharding.isSharded else { return true }
        try await step("exchange \(sharding.exchange)") { admin throws(AMQPError) in
            try await admin.deleteUnusedExchange(sharding.exchange)
            return .deleted
        }
        return true
    }

    /// Returns whether the next may follow.
    private mutating func take(
        _ step: Topology.Sharding.Step, of sharding: Topology.Sharding
    ) async throws(AMQPError) -> Bool {
        switch step {
        case .bind(let binding):
            return try await bind(binding, isPassing: !sharding.bindings.contains(binding))
        case .unbind(let binding):
            if let queue = binding.queue, queue != sharding.queue, try await !isThere(queue) { return true }
            let isOver = try await unbind(binding, isPassing: binding == sharding.passing)
            if isOver, let queue = binding.queue, queue != sharding.queue {
                report(Step(subject: "queue \(queue)", result: .unused(advice.retire(shard: queue))))
            }
            return isOver
        }
    }

    /// - Parameter isPassing: it goes again, and is told of only where it fails.
    @discardableResult
    private mutating func bind(_ binding: Topology.Binding, isPassing: Bool = false) async throws(AMQPError) -> Bool {
        let isThere = picture?.bindings.contains(binding)
        return try await step(binding.text, isTold: !isPassing) { admin throws(AMQPError) in
            try await admin.bind(binding)
            return switch isThere {
            case true?: .present
            case false?: .created
            case nil: .bound
            }
        }
    }

    private mutating func unbind(_ binding: Topology.Binding, _ topology: Topology) async throws(AMQPError) {
        if let queue = binding.queue {
            if newQueues.contains(queue) { return }
            guard try await isThere(queue) else { return }
        }
        guard !topology.bindings.contains(binding) else {
            failures += 1
            return report(Step(subject: binding.endText, result: .failed("this configuration needs it")))
        }
        try await unbind(binding)
    }

    @discardableResult
    private mutating func unbind(_ binding: Topology.Binding, isPassing: Bool = false) async throws(AMQPError) -> Bool {
        try await step(binding.endText, isTold: !isPassing) { admin throws(AMQPError) in
            try await admin.unbind(binding)
            return .unbound
        }
    }

    /// Earlier versions had messages wait in queues of this exchange, which give back what is in them by themselves.
    private mutating func lookForRetryExchange(of names: TopologyNames) async throws(AMQPError) {
        let name = "\(names.prefix).retry"
        guard try await isThere(exchange: name) else { return }
        report(
            Step(
                subject: "exchange \(name) and its queues",
                result: .unused("\(names.prefix).wait.* take their place; delete them once the queues are empty")))
    }

    /// Also where the broker does not say: what is done with it then fails, and says why.
    private func isThere(_ queue: String) async throws(AMQPError) -> Bool {
        do {
            return try await admin.queueExists(queue)
        } catch {
            guard !error.isUnreachable else { throw error }
            return true
        }
    }

    private func isThere(exchange: String) async throws(AMQPError) -> Bool {
        do {
            return try await admin.exchangeExists(exchange)
        } catch {
            guard !error.isUnreachable else { throw error }
            return false
        }
    }

    /// Returns whether it was done.
    ///
    /// - Parameter isTold: else only where it fails.
    @discardableResult
    private mutating func step(
        _ subject: String, isTold: Bool = true, _ act: (BrokerAdmin) async throws(AMQPError) -> Step.Result
    ) async throws(AMQPError) -> Bool {
        do {
            let result = try await act(admin)
            if isTold { report(Step(subject: subject, result: result)) }
            return true
        } catch {
            guard !error.isUnreachable else { throw error }
            failures += 1
            report(Step(subject: subject, result: .failed(Self.reason(for: error))))
            return false
        }
    }

    /// What an operator can do about a refusal.
    private static func reason(for error: AMQPError) -> String {
        switch error.code {
        case .preconditionFailed:
            "it exists with other properties, which a broker cannot change; when it is empty, delete it and apply "
                + "again (\(error.message))"
        case .accessRefused: "this user may not do that (\(error.message))"
        case .refused where error.detail == .unknownExchangeType: "\(TopologyAdvice.plugin) (\(error.message))"
        default: error.message
        }
    }
}

extension BrokerPicture.Queue {
    /// Whether it cannot grow without end, whatever its arguments.
    var isBoundedByPolicy: Bool { Topology.boundKeys.allSatisfy { policy[$0] != nil } }
}

extension AMQPError {
    /// Whether a declaration differs from the existing queue in one of the bounds.
    var isAboutBounds: Bool { Topology.boundKeys.contains { refusedArgument == "x-\($0)" } }

    /// The same for the delivery limit.
    fileprivate var isAboutDeliveryLimit: Bool { refusedArgument == Topology.Queue.deliveryLimitName }
}

extension Topology.Binding {
    /// `push.requests from push.requests by #`, of one that is taken away.
    fileprivate var endText: String { "\(shownDestination) from \(exchange)\(keyText)" }
}

extension BrokerAdmin {
    fileprivate func bind(_ binding: Topology.Binding) async throws(AMQPError) {
        let (destination, exchange, key) = (binding.destination, binding.exchange, binding.routingKey)
        switch binding.kind {
        case .queue:
            try await bindQueue(
                destination, toExchange: exchange, routingKey: key, arguments: FieldTable(binding.arguments))
        case .exchange: try await bindExchange(destination, toExchange: exchange, routingKey: key)
        }
    }

    fileprivate func unbind(_ binding: Topology.Binding) async throws(AMQPError) {
        let (destination, exchange, key) = (binding.destination, binding.exchange, binding.routingKey)
        switch binding.kind {
        case .queue: try await unbindQueue(destination, fromExchange: exchange, routingKey: key)
        case .exchange: try await unbindExchange(destination, fromExchange: exchange, routingKey: key)
        }
    }

    func declare(_ exchange: Topology.Exchange) async throws(AMQPError) {
        try await declareExchange(
            exchange.name, ExchangeKind(exchange.kind), arguments: FieldTable(exchange.arguments))
    }

    enum DeclaredQueue {
        case asWanted
        /// It exists without the argument that turns off the broker's delivery limit.
        case withBrokersDeliveryLimit
    }

    /// Declares a queue. One that exists without the argument against the broker's delivery limit is no error: queues of
    /// earlier versions have a policy instead.
    @discardableResult
    func declare(_ queue: Topology.Queue) async throws(AMQPError) -> DeclaredQueue {
        do throws(AMQPError) {
            try await declareQueue(queue.name, arguments: FieldTable(queue.arguments))
            return .asWanted
        } catch {
            guard queue.hasNoDeliveryLimit, error.isAboutDeliveryLimit else { throw error }
            try await declareQueue(queue.name, arguments: FieldTable(queue.withBrokersDeliveryLimit.arguments))
            return .withBrokersDeliveryLimit
        }
    }
}

extension ExchangeKind {
    fileprivate init(_ kind: Topology.Exchange.Kind) {
        self =
            switch kind {
            case .direct: .direct
            case .topic: .topic
            case .fanout: .fanout
            case .headers: .headers
            case .consistentHash: .consistentHash
            }
    }
}

extension FieldTable {
    fileprivate init(_ arguments: [Topology.Argument]) {
        self.init(
            arguments.map { argument in
                switch argument.value {
                case .text(let text): Entry(argument.name, .string(text))
                case .integer(let number): Entry(argument.name, .integer(number))
                case .boolean(let flag): Entry(argument.name, .boolean(flag))
                }
            })
    }
}
