import Delivery
import EventLoop

extension DoctorCheck {
    /// Whether the broker would take a message out of a queue because it was given back too often.
    static let deliveryLimits = DoctorCheck(name: "delivery limits", secondsMax: 30) { scene, _, _ in
        guard let topology = scene.topology else {
            return [.unseen("delivery limits", "the configuration does not say where the broker is")]
        }
        guard let management = scene.management else {
            return [
                .unseen(
                    "delivery limits", "only the management API shows them",
                    remedy: "set amqp.management_url; \(TopologyAdvice.apply) declares queues without a limit")
            ]
        }
        switch await management.settledPicture(of: topology) {
        case .failure(let failure):
            return [.failure("delivery limits", failure.message, remedy: "look at amqp.management_url and its user")]
        case .success(let picture):
            return lines(picture, topology)
        }
    }

    static func lines(_ picture: BrokerPicture, _ topology: Topology) -> [DoctorLine] {
        guard let version = picture.version else {
            return [.unseen("delivery limits", "the broker does not say its version")]
        }
        var lines: [DoctorLine] = []
        var unlimited: [String] = []
        for name in topology.countedQueues {
            guard let queue = picture.queues[name] else { continue }
            let limit = DeliveryLimit(queue, version)
            switch limit {
            case .none: unlimited.append(name)
            case .finite:
                lines.append(
                    .warning(
                        "delivery limits", "\(name): \(limit.text(version, policyName: queue.policyName))",
                        remedy: limit.remedy(version)))
            case .atOnce:
                lines.append(
                    .failure(
                        "delivery limits", "\(name): \(limit.text(version, policyName: queue.policyName))",
                        remedy: "delete the queue when it is empty, and declare it anew without this argument"))
            }
        }
        guard !unlimited.isEmpty || !lines.isEmpty else {
            return [.unseen("delivery limits", "none of the queues is there yet", remedy: TopologyAdvice.apply)]
        }
        guard !unlimited.isEmpty else { return lines }
        return [.ok("delivery limits", "none on \(unlimited.joined(separator: ", "))")] + lines
    }
}
