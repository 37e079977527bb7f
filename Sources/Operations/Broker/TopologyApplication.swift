import AMQP
import Delivery

/// Declares a topology at a broker, and tells what was there and what is new.
struct TopologyApplication {
    /// What became of one exchange, queue or binding.
    struct Step: Equatable {
        enum Result: Equatable {
            case created
            case present
            /// There now; a broker does not say whether it was before.
            case bound
            /// Not there now, as above.
            case unbound
            /// It is there, and nothing leads to it any more: what to do with it.
            case unused(String)
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
            case .bound: "bound    \(subject)"
            case .unbound: "unbound  \(subject)"
            case .unused(let advice): "unused   \(subject): \(advice)"
            case .failed(let reason): "failed   \(subject): \(reason)"
            }
        }
    }

    private let admin: BrokerAdmin
    private let tell: (Step) -> Void
    private var failures = 0

    /// - Parameter tell: called for each step as it is done.
    init(admin: BrokerAdmin, tell: @escaping (Step) -> Void) {
        self.admin = admin
        self.tell = tell
    }

    /// Goes on after a step that the broker refuses, so that all are told; ends when the connection is lost.
    ///
    /// - Returns: how many failed.
    mutating func apply(_ topology: Topology) async throws(AMQPError) -> Int {
        for exchange in topology.exchanges {
            try await step("exchange \(exchange.name)") { admin throws(AMQPError) in
                let exists = try await admin.exchangeExists(exchange.name)
                try await admin.declareExchange(
                    exchange.name, ExchangeKind(exchange.kind), arguments: FieldTable(exchange.arguments))
                return exists ? .present : .created
            }
        }
        for queue in topology.queues {
            try await step("queue \(queue.name)") { admin throws(AMQPError) in
                let exists = try await admin.queueExists(queue.name)
                try await admin.declareQueue(queue.name, arguments: FieldTable(queue.arguments))
                return exists ? .present : .created
            }
        }
        for binding in topology.bindings {
            let key = binding.routingKey.isEmpty ? "" : " by \(binding.routingKey)"
            try await step("\(binding.queue) to \(binding.exchange)\(key)") { admin throws(AMQPError) in
                try await admin.bindQueue(
                    binding.queue, toExchange: binding.exchange, routingKey: binding.routingKey)
                return .bound
            }
        }
        for binding in topology.formerBindings {
            guard try await isThere(binding.queue) else { continue }
            let subject = "\(binding.queue) from \(binding.exchange) by \(binding.routingKey)"
            try await step(subject) { admin throws(AMQPError) in
                try await admin.unbindQueue(
                    binding.queue, fromExchange: binding.exchange, routingKey: binding.routingKey)
                return .unbound
            }
        }
        try await lookForRetryExchange(of: topology.names)
        return failures
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
        tell(
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
            tell(Step(subject: subject, result: try await act(admin)))
        } catch {
            guard !error.isUnreachable else { throw error }
            failures += 1
            tell(Step(subject: subject, result: .failed(Self.reason(for: error))))
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

extension BrokerAdmin {
    fileprivate func queueExists(_ name: String) async throws(AMQPError) -> Bool {
        do {
            _ = try await status(ofQueue: name)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
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
