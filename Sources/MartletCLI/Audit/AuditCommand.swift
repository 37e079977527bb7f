import AMQP
import Actions
import CommandKit
import Configuration
import ControlProtocol
import EventLoop
import Glibc
import Text

/// The command that prints the records of operators' actions.
struct AuditCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["audit"],
        summary: "Print the actions of all consoles and commands, and the logins and refusals.",
        discussion: """
            Read the stream <prefix>.commands, which keeps its records for 90 days. The actions are those of martlet console,
            martlet pause --fleet, martlet resume --fleet and martlet probe. Times are by the clock of the console or
            command. Anyone who may publish to <prefix>.control with a key that begins with audit. can add records, but no user
            can change or remove one.
            """,
        options: .broker + [
            OptionSyntax(
                name: "since", value: "DURATION", help: "only records of this time, such as 2h or 7d (at most 90d)"),
            .json,
        ])

    private static let secondsMax: Int64 = 90 * 86_400

    let broker: BrokerOptions
    let sinceSeconds: Int64?
    let isJSON: Bool

    init(_ parsed: ParsedArguments) throws(UsageError) {
        broker = try BrokerOptions(parsed)
        isJSON = parsed.has("json")
        sinceSeconds = try parsed.options["since"].map { text throws(UsageError) in
            guard let seconds = DurationText.seconds(text), seconds <= Self.secondsMax else {
                throw UsageError("--since requires a duration of 1s to 90d, such as 2h or 7d")
            }
            return Int64(seconds)
        }
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        let connector = try broker.connector()
        return FleetSession.run(connector, command: "martlet audit") { session async throws(AMQPError) in
            try await show(session)
        }
    }

    private func show(_ session: FleetSession) async throws(AMQPError) -> ExitCode {
        let start = sinceSeconds.map { session.loop.now.unixMilliseconds - $0 * 1000 } ?? 0
        var isWritten = true
        try await AuditReading(session).run { record in
            if record.at >= start { isWritten = print(record) && isWritten }
        }
        return isWritten ? .success : .failed
    }

    private func print(_ record: AuditRecord) -> Bool {
        guard !isJSON else { return Terminal.output.json(String(decoding: record.json, as: UTF8.self)) }
        return Terminal.output.line(Self.line(record))
    }

    static func line(_ record: AuditRecord) -> String {
        let details = [
            record.why.map { "why: \($0)" }, record.command.map { "command: \($0)" }, record.result,
        ].compactMap(\.self)
        let outcome = record.outcome.map { " \($0.rawValue)" } ?? ""
        let head = "\(time(record.at)) \(record.by) \(record.verb) \(record.phase.rawValue)\(outcome)"
        return (head + (details.isEmpty ? "" : ": " + details.joined(separator: "; "))).printable
    }

    /// Returns the time in UTC as in RFC 3339.
    private static func time(_ unixMilliseconds: Int64) -> String {
        var seconds = time_t(unixMilliseconds / 1000)
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "-" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
