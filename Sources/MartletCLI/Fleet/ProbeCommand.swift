import AMQP
import Actions
import BrokerTopology
import CommandKit
import Configuration
import ControlProtocol
import Crypto
import Delivery
import EventLoop
import Text

/// The command that probes open breakers in all workers.
struct ProbeCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["probe"],
        summary: "Probe open breakers now, instead of after their waits.",
        discussion: """
            Run the command after repairing a cause, such as a revoked key. Command all workers at the broker of --config
            or --url whose configuration has the section fleet. An endpoint is probed by connecting; a key, a certificate
            and a topic by a request. For these, return a few held requests from the wait queues. Then wait until the
            breakers are closed, \(FleetProbe.closeSecondsMax) seconds at most. A probe that fails counts no attempt, and
            its request is held again. A repeated command is harmless. To return the other held requests immediately, run
            martlet waits bring-back. Exit code 0: no breaker of the scope is open, 1: a breaker is still open, or a worker
            has not replied.
            """,
        options: [
            OptionSyntax(name: "fleet", help: "all workers at the broker (default)"),
            OptionSyntax(name: "all", help: "all open breakers"),
            OptionSyntax(name: "key", value: "KEY-ID", help: "only the breakers of this key"),
            OptionSyntax(name: "certificate", value: "NAME", help: "only the breakers of this certificate"),
            OptionSyntax(name: "topic", value: "TOPIC", help: "only the breakers of this topic"),
            OptionSyntax(name: "endpoint", value: "HOST", help: "only the breaker of this endpoint"),
            OptionSyntax(name: "store", help: "only the breaker of the store of device registrations"),
            OptionSyntax(name: "why", value: "TEXT", help: "reason, which the workers log", isRequired: true),
        ] + .broker)

    let broker: BrokerOptions
    let probe: FleetProbe

    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try BrokerOptions(parsed)
        let why = parsed.options["why"] ?? ""
        guard FleetCommand.isValid(why: why) else {
            throw UsageError(
                "--why requires a text of 1 to \(FleetLimits.whyBytesMax) bytes without control characters")
        }
        probe = FleetProbe(try Self.scope(parsed), why: why)
    }

    private static func scope(_ parsed: ParsedArguments) throws(UsageError) -> ProbeScope {
        let words = ["all", "endpoint", "store"] + PauseScope.words
        let present = words.filter { parsed.has($0) }
        guard present.count < 2 else {
            throw UsageError("options --\(present[0]) and --\(present[1]) are mutually exclusive")
        }
        guard let word = present.first else {
            throw UsageError("probe requires --all, --key, --certificate, --topic, --endpoint or --store")
        }
        let value = parsed.options[word]
        let scope: ProbeScope =
            switch word {
            case "endpoint": .endpoint(value ?? "")
            case "store": .store
            default: .part(try PauseScope({ parsed.options[$0] }, exclude: { UsageError("--\($0) and --\($1)") }))
            }
        guard FleetCommand.isValid(scope: scope) else { throw UsageError("--\(word) requires a name") }
        return scope
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try broker.connector()
        let waitQueues = try broker.topology().waitQueues
        return FleetSession.run(connector, command: "martlet probe") { session async throws(AMQPError) in
            _ = try await session.collectReports(by: PauseNote.operatorName)
            let id = UUIDValue(randomOf: session.loop)
            let audit = AuditedAction(.probe(probe), in: session, by: PauseNote.operatorName, why: probe.why)
            try await audit.begin()
            let outcome: FleetProbe.Outcome
            do throws(AMQPError) {
                outcome = try await probe.run(session, by: PauseNote.operatorName, id: id, waitQueues: waitQueues)
            } catch {
                await audit.end(.failed, error.message)
                throw error
            }
            await audit.end(
                outcome.hasReplies && outcome.isDone ? .done : .failed,
                outcome.hasReplies ? outcome.summary : "no worker has replied", count: outcome.probedCount)
            return report(outcome)
        }
    }

    private func report(_ outcome: FleetProbe.Outcome) -> ExitCode {
        guard outcome.hasReplies else {
            Terminal.error.line("martlet: no worker has replied")
            return .unreachable
        }
        let isWritten = Terminal.output.line(outcome.summary)
        for (worker, reason) in outcome.failures.sorted(by: { $0.key < $1.key }) {
            Terminal.error.line("martlet: \(worker): \(reason)".printable)
        }
        for (worker, breakers) in outcome.open.sorted(by: { $0.key < $1.key }) {
            for breaker in breakers {
                Terminal.error.line(
                    "martlet: \(worker): still open: \(breaker.route): \(breaker.sentence)".printable)
            }
        }
        return isWritten && outcome.isDone ? .success : .failed
    }
}
