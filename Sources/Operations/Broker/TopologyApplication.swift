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
            case .unused(let advice): "unused   \(subject): \(advice)"
            case .kept(let advice): "kept     \(subject): \(advice)"
            case .failed(let reason): "failed   \(subject): \(reason)"
            }
        }
    }

    private let admin: BrokerAdmin
    /// What the management showed before; nil: only what AMQP shows is known.
    private let picture: BrokerPicture?
    private let advice: TopologyAdvice
    private let report: (Step) -> Void
    private var failures = 0

    /// - Parameter report: called for each step as it is done.
    init(
        admin: BrokerAdmin, picture: BrokerPicture? = nil, advice: TopologyAdvice = TopologyAdvice(virtualHost: "/"),
        report: @escaping (Step) -> Void
    ) {
        self.admin = admin
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
        for queue in topology.queues {
            let bounds = topology.isBounded(queue.name) ? advice.bound(queue: queue.name, topology.results) : nil
            let isBoundedByPolicy = picture?.queues[queue.name]?.isBoundedByPolicy == true
            try await step("queue \(queue.name)") { admin throws(AMQPError) in
                let exists = try await admin.queueExists(queue.name)
                do throws(AMQPError) {
                    try await admin.declare(queue)
                } catch {
                    guard let bounds, error.isAboutBounds else { throw error }
                    return isBoundedByPolicy ? .present : .kept("it has other bounds (\(error.message)); \(bounds)")
                }
                return exists ? .present : .created
            }
        }
        for binding in topology.bindings {
            let isThere = picture?.bindings.contains(binding)
            try await step(binding.text) { admin throws(AMQPError) in
                try await admin.bindQueue(
                    binding.queue, toExchange: binding.exchange, routingKey: binding.routingKey)
                return switch isThere {
                case true?: .present
                case false?: .created
                case nil: .bound
                }
            }
        }
        let stale = picture?.staleBindings(of: topology) ?? topology.formerBindings
        for binding in stale + former.filter({ !stale.contains($0) }) { try await unbind(binding, topology) }
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

    private mutating func unbind(_ binding: Topology.Binding, _ topology: Topology) async throws(AMQPError) {
        guard try await isThere(binding.queue) else { return }
        let subject = "\(binding.queue) from \(binding.exchange) by \(binding.routingKey)"
        guard !topology.bindings.contains(binding) else {
            failures += 1
            return report(Step(subject: subject, result: .failed("this configuration needs it")))
        }
        try await step(subject) { admin throws(AMQPError) in
            try await admin.unbindQueue(
                binding.queue, fromExchange: binding.exchange, routingKey: binding.routingKey)
            return .unbound
        }
    }

    /// Earlier versions had messages wait in queues of this exchange, which give back what is in them by themselves.
    private mutating func lookForRetryExchange(of names: TopologyNames) async throws(AMQPError) {
        let name = "\(names.prefix).retry"
        do {
            guard try await admin.exchangeExists(name) else { return }
        } catch {
            guard !error.isUnreachable else { throw error }
            return
        }
        report(
            Step(
                subject: "exchange \(name) and its queues",
                result: .unused("\(names.prefix).wait.* take their place; delete them once the queues are empty")))
    }

    private func isThere(_ queue: String) async throws(AMQPError) -> Bool {
        do {
            return try await admin.queueExists(queue)
        } catch {
            guard !error.isUnreachable else { throw error }
            return false
        }
    }

    private mutating func step(
        _ subject: String, _ act: (BrokerAdmin) async throws(AMQPError) -> Step.Result
    ) async throws(AMQPError) {
        do {
            report(Step(subject: subject, result: try await act(admin)))
        } catch {
            guard !error.isUnreachable else { throw error }
            failures += 1
            report(Step(subject: subject, result: .failed(Self.reason(for: error))))
        }
    }

    /// What an operator can do about a refusal.
    private static func reason(for error: AMQPError) -> String {
        switch error.code {
        case .preconditionFailed:
            "it exists with other properties, which a broker cannot change; when it is empty, delete it and apply "
                + "again (\(error.message))"
        case .accessRefused: "this user may not do that (\(error.message))"
        default: error.message
        }
    }
}

extension BrokerPicture.Queue {
    /// Whether it cannot grow without end, whatever its arguments.
    var isBoundedByPolicy: Bool { Topology.boundKeys.allSatisfy { policy[$0] != nil } }
}

extension AMQPError {
    /// RabbitMQ's words when a declaration differs from what is there in one of the bounds.
    var isAboutBounds: Bool {
        code == .preconditionFailed && Topology.boundKeys.contains { message.contains("'x-\($0)'") }
    }
}

extension BrokerAdmin {
    func declare(_ exchange: Topology.Exchange) async throws(AMQPError) {
        try await declareExchange(
            exchange.name, ExchangeKind(exchange.kind), arguments: FieldTable(exchange.arguments))
    }

    func declare(_ queue: Topology.Queue) async throws(AMQPError) {
        try await declareQueue(queue.name, arguments: FieldTable(queue.arguments))
    }
}

extension ExchangeKind {
    fileprivate init(_ kind: Topology.Exchange.Kind) {
        self =
            switch kind {
            case .direct: .direct
            case .topic: .topic
            case .fanout: .fanout
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
