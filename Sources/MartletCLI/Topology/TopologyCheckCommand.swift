import AMQP
import BrokerManagement
import BrokerTopology
import CommandKit
import Configuration
import EventLoop
import JSON
import Text

/// The command that prints the missing and mismatched objects of the topology.
struct TopologyCheckCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["topology", "check"],
        summary: "Compare the broker with the topology without changing it.",
        discussion: """
            Print missing and mismatched objects, each with a remedy. Exit code 0: no object is missing or mismatched,
            1: an object is. AMQP shows whether objects exist, and, to users with configure permission, whether the
            arguments match; bindings and policies are visible only if amqp.management_url is configured. A queue also
            counts as mismatched if requests or commands wait in it without a consumer, or if it is full and refuses
            messages.
            """,
        options: .broker + [.json])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var isJSON = false
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        options = Options(broker: try BrokerOptions(parsed), isJSON: parsed.has("json"))
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let target = try TopologyTarget(options.broker)
        return CommandLoop.run { await check(target, on: $0) }
    }

    private func check(_ target: TopologyTarget, on loop: EventLoop) async -> ExitCode {
        let admin = target.connector.admin(named: "martlet topology", on: loop)
        BrokerWait.follow(admin.connection, target.connector)
        do {
            let seconds = BrokerConnector.connectDeadlineSeconds
            let findings = try await target.inspector.findings(by: admin, deadlineSeconds: seconds) {
                Terminal.error.line("martlet: \($0)".printable)
            }
            return print(findings + (await queueFindings(target, on: loop, deadlineSeconds: seconds)), target.commands)
        } catch {
            Terminal.error.line(target.connector.line(error))
            return .unreachable
        }
    }

    /// Returns findings about the depth and consumers of queues. The management API may respond while AMQP is
    /// unreachable.
    private func queueFindings(
        _ target: TopologyTarget, on loop: EventLoop, deadlineSeconds: Int
    ) async -> [TopologyFinding] {
        let admin = target.connector.admin(named: "martlet topology", on: loop)
        do throws(AMQPError) {
            let conditions = try await target.inspector.queueConditions(by: admin, deadlineSeconds: deadlineSeconds)
            return conditions.faults.map { TopologyFinding($0) }
        } catch {
            return [TopologyFinding(subject: "depth and consumers of queues", state: .unseen, advice: error.message)]
        }
    }

    private func print(_ findings: [TopologyFinding], _ commands: CommandAdvice) -> ExitCode {
        let findings = findings.map { finding in
            TopologyFinding(
                subject: finding.subject, state: finding.state, advice: commands.completed(finding.advice))
        }
        for finding in findings where options.isJSON || finding.state != .present {
            Terminal.output.line(options.isJSON ? finding.json : finding.text.printable)
        }
        let faults = findings.count { $0.isFault }
        if !options.isJSON {
            let right = findings.count { $0.state == .present }
            Terminal.output.line("\(right) ok, \(faults) missing or mismatched")
        }
        return faults == 0 ? .success : .failed
    }
}

extension TopologyFinding {
    /// One line for an operator.
    fileprivate var text: String {
        let start = "\(state.rawValue.padded(to: 8)) \(subject)"
        return advice.isEmpty ? start : "\(start): \(advice)"
    }

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
