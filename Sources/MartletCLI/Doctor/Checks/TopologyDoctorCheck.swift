import AMQP
import BrokerManagement
import BrokerTopology
import Configuration
import Text

extension DoctorCheck {
    /// The check of every exchange, queue and binding. All objects that match share one line.
    static let topology = DoctorCheck(name: "topology", secondsMax: 30) { context, loop, _ in
        guard let target = context.target else {
            return [.unseen("topology", "the broker settings are missing or have mistakes")]
        }
        let admin = target.connector.admin(named: "martlet doctor", on: loop, deadlineSeconds: brokerAnswerSecondsMax)
        do throws(AMQPError) {
            // Only the check of delivery limits prints the notice of a wait.
            return lines(
                try await target.inspector.findings(
                    by: admin, deadlineSeconds: brokerAnswerSecondsMax, onWait: { _ in }))
        } catch {
            return [.unseen("topology", "cannot query the broker: \(error.message)")]
        }
    }

    /// Maximum number of missing objects that are named. Further objects are only counted.
    private static let namedMax = 3

    static func lines(_ findings: [TopologyFinding]) -> [DoctorLine] {
        let present = findings.count { $0.state == .present }
        let well = present > 0 ? [DoctorLine.ok("topology", "\(present.counted("object")) ok")] : []
        return well + missing(findings.filter { $0.state == .missing })
            + findings.compactMap { finding in
                switch finding.state {
                case .present, .missing: nil
                // A worker runs with the object, but possibly not as intended.
                case .differs: .warning("topology", "\(finding.subject): mismatched", remedy: finding.advice)
                case .unseen: .unseen("topology", finding.subject, remedy: finding.advice)
                }
            }
    }

    private static func missing(_ findings: [TopologyFinding]) -> [DoctorLine] {
        guard findings.count > namedMax else {
            return findings.map { .failure("topology", "\($0.subject) is missing", remedy: $0.advice) }
        }
        let named = findings.prefix(namedMax).map(\.subject).joined(separator: ", ")
        return [
            .failure(
                "topology", "\(findings.count) objects are missing: \(named) and \(findings.count - namedMax) more",
                remedy: "\(TopologyAdvice.apply); to list all, run: martlet topology check")
        ]
    }
}
