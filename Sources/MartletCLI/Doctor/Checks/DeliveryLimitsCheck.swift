import BrokerManagement
import BrokerTopology
import CommandKit
import Text

extension DoctorCheck {
    /// The check for delivery limits. With a limit, the broker removes a message that was requeued too often.
    static let deliveryLimits = DoctorCheck(name: "delivery limits", secondsMax: 30) { context, _, _ in
        guard let topology = context.topology else {
            return [.unseen("delivery limits", "the broker settings are missing or have mistakes")]
        }
        guard let management = context.management else {
            return [
                .unseen(
                    "delivery limits", "visible only through the management API",
                    remedy: "set amqp.management_url; to create missing queues without a limit, "
                        + "run: martlet topology apply")
            ]
        }
        let notice: @Sendable (String) -> Void = { Terminal.error.line("martlet: \($0)".printable) }
        switch await management.settledSnapshot(of: topology, onWait: notice) {
        case .failure(let failure):
            return [.failure("delivery limits", failure.message, remedy: "check amqp.management_url and its user")]
        case .success(let snapshot):
            return lines(snapshot, topology, context.advice)
        }
    }

    static func lines(_ snapshot: BrokerSnapshot, _ topology: Topology, _ advice: TopologyAdvice) -> [DoctorLine] {
        guard let version = snapshot.version else {
            return [.unseen("delivery limits", "the broker does not report its version")]
        }
        var lines: [DoctorLine] = []
        var unlimited: [String] = []
        for name in topology.unlimitedQueues {
            guard let queue = snapshot.queues[name], let limit = snapshot.deliveryLimit(of: name) else { continue }
            let text = "\(name): \(limit.text(queue, version))"
            let remedy = snapshot.limitRemedy(of: name, topology, advice)
            switch limit {
            case .none: unlimited.append(name)
            case .finite: lines.append(.warning("delivery limits", text, remedy: remedy))
            case .atOnce: lines.append(.failure("delivery limits", text, remedy: remedy))
            }
        }
        let unknown = snapshot.queuesOfUnknownLimit(of: topology)
        if !unknown.isEmpty {
            lines.append(
                .unseen(
                    "delivery limits", "\(unknown.joined(separator: ", ")): \(snapshot.unseenLimitsText)",
                    remedy: snapshot.unseenLimitsAdvice(advice)))
        }
        guard !unlimited.isEmpty || !lines.isEmpty else {
            return [.unseen("delivery limits", "none of the queues exists", remedy: TopologyAdvice.apply)]
        }
        guard !unlimited.isEmpty else { return lines }
        return [.ok("delivery limits", "none on \(unlimited.joined(separator: ", "))")] + lines
    }
}
