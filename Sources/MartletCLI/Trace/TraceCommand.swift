import AMQP
import Actions
import BrokerManagement
import CommandKit
import Configuration
import Crypto
import Delivery
import EventLoop
import History

/// The command that prints the steps of a request from the journal.
struct TraceCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["trace"],
        summary: "Print the steps of a request from the journal.",
        discussion: """
            ID is the id of the request, or its message-id. The command reads the stream of the journal from the start
            of --since to its end, and removes nothing. The workers' configuration needs the section journal, and this
            user must be allowed to read the stream. A request that a worker has received but not completed, and that
            does not wait, has no steps yet. If no step is found, the command prints the gaps that may hide the request:
            lines that a worker dropped, missing batches, and workers that were killed or are silent.

            Exit code 0: steps found, 1: none found, or the journal is missing, 4: --timeout before the end of the
            journal, and no step found.
            """,
        operands: "ID", operandValues: .text,
        options: .broker + [
            OptionSyntax(
                name: "since", value: "DURATION", help: "time to search, such as 30m or 2d (default: 1h; at most 30d)"),
            OptionSyntax(name: "timeout", value: "SECONDS", help: "time after which the search ends (default: 60)"),
            .json,
        ])

    struct Options: Equatable, Sendable {
        var broker = BrokerOptions()
        var id: UUIDValue
        var sinceSeconds = 3600
        var timeoutSeconds = 60
        var isJSON = false
    }

    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) {
        guard parsed.operands.count == 1 else { throw UsageError("expected one ID, got \(parsed.operands.count)") }
        guard let id = RequestIdentity.of(messageID: parsed.operands[0]) else { throw UsageError("ID is empty") }
        options = Options(
            broker: try BrokerOptions(parsed), id: id,
            sinceSeconds: try parsed.options["since"].map(Self.seconds) ?? 3600,
            timeoutSeconds: try parsed.integer("timeout", in: 1...86_400) ?? 60, isJSON: parsed.has("json"))
    }

    private static let sinceSecondsMax = 30 * 86_400

    private static func seconds(_ text: String) throws(UsageError) -> Int {
        guard let seconds = DurationText.seconds(text), seconds <= sinceSecondsMax else {
            throw UsageError("option --since: expected a duration from 1s to 30d, such as 30m, 2h or 7d, got '\(text)'")
        }
        return seconds
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try options.broker.connector()
        let options = options
        return CommandLoop.run { loop in
            let search = JournalSearch(connector, on: loop, command: "martlet trace", id: options.id)
            BrokerWait.follow(search.connection, connector)
            let now = loop.now.unixMilliseconds
            let code: ExitCode
            do throws(AMQPError) {
                let end = try await search.run(
                    since: now - Int64(options.sinceSeconds) * 1000, seconds: options.timeoutSeconds)
                let text = TraceText(trace: search.trace, now: now)
                let isWritten = options.isJSON ? text.printJSON() : text.print()
                let isFound = !search.trace.lines.isEmpty
                code = !isWritten ? .failed : isFound ? .success : end == .stopped ? .timedOut : .failed
            } catch {
                Terminal.error.line(connector.line(error))
                code = error.isUnreachable ? .unreachable : .failed
            }
            await search.close()
            return code
        }
    }
}
