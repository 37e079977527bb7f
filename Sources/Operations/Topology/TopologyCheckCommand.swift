import AMQP
import Delivery
import EventLoop
import JSON
import Text

/// Says what of the topology is missing at the broker, or is otherwise.
struct TopologyCheckCommand {
    let target: TopologyTarget
    let isJSON: Bool

    func run(on loop: EventLoop) async -> ExitCode {
        let admin = target.access.admin(named: "martlet topology", on: loop)
        BrokerWait.follow(admin.connection, target.access)
        do {
            let seconds = TopologyCommand.connectDeadlineSeconds
            let findings = try await target.findings(by: admin, deadlineSeconds: seconds) {
                Terminal.error.line("martlet: \($0)".printable)
            }
            return print(findings + (await queueFindings(on: loop, deadlineSeconds: seconds)))
        } catch {
            Terminal.error.line(target.access.line(error))
            return .unreachable
        }
    }

    /// The management API may answer where AMQP cannot be reached.
    private func queueFindings(on loop: EventLoop, deadlineSeconds: Int) async -> [TopologyFinding] {
        let admin = target.access.admin(named: "martlet topology", on: loop)
        do throws(AMQPError) {
            let conditions = try await target.queueConditions(by: admin, deadlineSeconds: deadlineSeconds)
            return conditions.faults.map { TopologyFinding($0) }
        } catch {
            return [TopologyFinding(subject: "depth and consumers of queues", state: .unseen, advice: error.message)]
        }
    }

    private func print(_ findings: [TopologyFinding]) -> ExitCode {
        let findings = findings.map { finding in
            TopologyFinding(
                subject: finding.subject, state: finding.state, advice: target.commands.completed(finding.advice))
        }
        for finding in findings where isJSON || finding.state != .present {
            Terminal.output.line(isJSON ? finding.json : finding.text.printable)
        }
        let faults = findings.count { $0.isFault }
        if !isJSON {
            let right = findings.count { $0.state == .present }
            Terminal.output.line("\(right) as they should be, \(faults) missing or otherwise")
        }
        return faults == 0 ? .success : .failed
    }
}

extension TopologyTarget {
    /// By the management API where it is configured and answers, else by AMQP.
    ///
    /// - Parameters:
    ///   - admin: is started and closed when it is needed.
    ///   - deadlineSeconds: for the connection.
    ///   - onWait: called on another thread, with a sentence for an operator, if statistics are waited for.
    /// - Throws: when the broker cannot be reached.
    func findings(
        by admin: BrokerAdmin, deadlineSeconds: Int, onWait: @escaping @Sendable (String) -> Void
    ) async throws(AMQPError) -> [TopologyFinding] {
        var unseen: [TopologyFinding] = []
        switch await management?.settledPicture(of: topology, onWait: onWait) {
        case .success(let picture):
            return TopologyComparison(topology: topology, picture: picture, advice: advice).findings
        case .failure(let failure):
            unseen = [TopologyFinding(subject: "management API", state: .unseen, advice: failure.message)]
        case nil: break
        }
        admin.start()
        do {
            try await admin.waitUntilReady(deadlineSeconds: deadlineSeconds)
            let findings = try await TopologyProbe(admin: admin, topology: topology, advice: advice).findings()
            await admin.close()
            return findings + unseen
        } catch {
            await admin.close()
            throw error
        }
    }
}

extension TopologyFinding {
    fileprivate init(_ fault: QueueConditions.Fault) {
        self.init(subject: "queue \(fault.queue)", state: .differs, advice: "\(fault.text); \(fault.remedy)")
    }

    fileprivate var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.member("subject", subject)
        json.member("state", state.rawValue)
        if !advice.isEmpty { json.member("advice", advice) }
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
