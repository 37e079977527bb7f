import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import ControlProtocol
import Delivery
import EventLoop
import Text

/// A pause or resumption of all workers of a fleet.
struct FleetPauseChange: Equatable, Sendable {
    var broker = BrokerOptions()
    var action: PauseAction
    var saysYes = false

    private var scope: PauseScope { action.scope }
    private var isPaused: Bool { action.effect != .resume }

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try broker.connector()
        if isPaused, scope == .everything, !saysYes, ConfirmationPrompt.isInteractive,
            !ConfirmationPrompt.confirmImmediately(
                "Pause everything? All workers at \(connector.name) will consume no requests.")
        {
            Terminal.error.line("martlet: nothing paused")
            return .failed
        }
        let command = isPaused ? "martlet pause" : "martlet resume"
        return FleetSession.run(connector, command: command) { session async throws(AMQPError) in
            try await change(session)
        }
    }

    private func change(_ session: FleetSession) async throws(AMQPError) -> ExitCode {
        // The workers that report now must apply the change.
        _ = try await session.collectReports(by: PauseNote.operatorName)
        let audit = AuditedAction(.pause(action), in: session, by: PauseNote.operatorName, why: why)
        do throws(AMQPError) {
            try await audit.begin()
        } catch {
            // The record of pauses names the operator, too. An incident may need the pause now.
            Terminal.error.line("martlet: the audit lacks this command: \(error.message)".printable)
        }
        let record: PauseRecord
        do throws(PauseWriter.Failure) {
            record = try await action.write(in: session, by: PauseNote.operatorName)
        } catch {
            let unchanged = Self.unchanged(error)
            await audit.end(unchanged == nil ? .failed : .done, unchanged ?? error.sentence)
            return failed(error)
        }
        let coverage = await session.waitForCoverage(of: record.revision)
        let result = Self.result(record, coverage)
        let code = try await report(result, coverage, session)
        await audit.end(.done, result, count: coverage.inForce.count)
        return code
    }

    private var why: String? {
        if case .pause(let why, _) = action.effect { why } else { nil }
    }

    /// Returns the sentence about a change without an effect; nil for another failure.
    private static func unchanged(_ failure: PauseWriter.Failure) -> String? {
        guard case .violation(let violation) = failure, [.alreadyPaused, .notPaused].contains(violation.code) else {
            return nil
        }
        return "unchanged: \(violation.sentence)"
    }

    private static func result(_ record: PauseRecord, _ coverage: FleetView.Coverage) -> String {
        let (inForce, answered) = (coverage.inForce.count, coverage.inForce.count + coverage.missing.count)
        return "revision \(record.revision.number): in force at \(inForce) of \(answered) workers that report"
    }

    private func failed(_ failure: PauseWriter.Failure) -> ExitCode {
        let verb = isPaused ? "pause" : "resume"
        if let unchanged = Self.unchanged(failure) {
            return Terminal.output.line(unchanged.printable) ? .success : .failed
        }
        let sentence = CommandAdvice(broker).completed(failure.sentence)
        Terminal.error.line("martlet: cannot \(verb) \(scope): \(sentence)".printable)
        if case .broker(let error) = failure, error.isUnreachable { return .unreachable }
        return .failed
    }

    /// Reports the workers in which the change is in force.
    private func report(
        _ result: String, _ coverage: FleetView.Coverage, _ session: FleetSession
    ) async throws(AMQPError) -> ExitCode {
        let unreported = try await session.collectReports(by: PauseNote.operatorName)
        let answered = coverage.inForce.count + coverage.missing.count
        let isWritten = Terminal.output.line(result)
        for worker in coverage.missing {
            Terminal.error.line("martlet: \(worker.report.worker) has not applied the revision yet".printable)
        }
        if unreported > 0 { Terminal.error.line("martlet: \(FleetStatus.unreported(unreported))") }
        return isWritten && answered > 0 && coverage.missing.isEmpty && unreported == 0 ? .success : .failed
    }
}

extension FleetPauseChange {
    /// The options with which `martlet pause` and `martlet resume` concern a fleet.
    static let options =
        [OptionSyntax(name: "fleet", help: "all workers at the broker, also those that start later")]
        + [OptionSyntax].broker.map { $0.requiring("fleet") }

    init(isPaused: Bool, _ parsed: ParsedArguments) throws(UsageError) {
        let scope = try PauseScope(
            { parsed.options[$0] }, exclude: { UsageError("options --\($0) and --\($1) are mutually exclusive") })
        self.init(
            broker: try BrokerOptions(parsed), action: PauseAction(scope, .resume), saysYes: parsed.has("yes"))
        if parsed.has("socket") { throw UsageError("options --fleet and --socket are mutually exclusive") }
        guard isPaused else { return }
        guard let why = parsed.options["reason"], !why.isEmpty else {
            throw UsageError("option --fleet requires --reason")
        }
        action.effect = .pause(why: why, seconds: try parsed.options["until"].map(Self.seconds))
    }

    /// Reads a duration such as `30m`, `2h` or `7d`.
    private static func seconds(_ text: String) throws(UsageError) -> Int {
        guard let seconds = PauseDuration.seconds(text) else {
            let days = PauseDuration.secondsMax / 86_400
            throw UsageError(
                "option --until: expected a duration from 1s to \(days)d, such as 30m, 2h or 7d, got '\(text)'")
        }
        return seconds
    }
}
