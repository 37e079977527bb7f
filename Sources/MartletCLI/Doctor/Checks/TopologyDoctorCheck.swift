import AMQP
import BrokerManagement
import BrokerTopology
import Configuration

extension DoctorCheck {
    /// Every exchange, queue and binding; what is well in one line.
    static let topology = DoctorCheck(name: "topology", secondsMax: 30) { context, loop, _ in
        guard let target = context.target else {
            return [.unseen("topology", "the configuration does not say where the broker is")]
        }
        let admin = target.connector.admin(named: "martlet doctor", on: loop, deadlineSeconds: brokerAnswerSecondsMax)
        do throws(AMQPError) {
            // The check of delivery limits says what both wait for.
            return lines(
                try await target.inspector.findings(
                    by: admin, deadlineSeconds: brokerAnswerSecondsMax, onWait: { _ in }))
        } catch {
            return [.unseen("topology", "the broker cannot be asked: \(error.message)")]
        }
    }

    /// So many missing parts are named; of more it is said how many they are.
    private static let namedMax = 3

    static func lines(_ findings: [TopologyFinding]) -> [DoctorLine] {
        let present = findings.count { $0.state == .present }
        let well = present > 0 ? [DoctorLine.ok("topology", "\(present) parts are there as they should be")] : []
        return well + missing(findings.filter { $0.state == .missing })
            + findings.compactMap { finding in
                switch finding.state {
                case .present, .missing: nil
                // A worker works with it; whether as it is meant to, who knows.
                case .differs: .warning("topology", "\(finding.subject) is otherwise", remedy: finding.advice)
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
                "topology", "\(findings.count) parts are missing: \(named) and \(findings.count - namedMax) more",
                remedy: "\(TopologyAdvice.apply); martlet topology check names them all")
        ]
    }
}
