import CommandKit
import Configuration
import EventLoop

/// The command that checks everything that a worker needs, and prints the result and the remedy of each check.
struct DoctorCommand: Command {
    static let syntax = CommandSyntax(
        path: ["doctor"],
        summary: "Check everything that a worker needs, and print remedies for failures.",
        discussion: """
            Check libraries, the configuration and its files, keys, schemas, the broker (name, connection, login,
            permissions, topology, delivery limits, queues, replicas of the streams of fleet control), the store of device
            registrations, APNs and the clock. The checks are independent, change nothing and consume no message. For each app, push to a nonexistent device:
            if APNs refuses only the device, APNs accepts the credential. Each line is ok, warning, failure, or unseen
            (not checked). Exit code 0: no failure, 1: a failure.
            """,
        options: [.config(isRequired: true), .json])

    struct Options: Equatable, Sendable {
        var configPath: String
        var isJSON = false
    }

    let options: Options

    init(_ parsed: ParsedArguments) {
        options = Options(configPath: parsed.required("config"), isJSON: parsed.has("json"))
    }

    func run() -> ExitCode {
        let context = DoctorContext(options.configPath)
        return CommandLoop.run { loop in
            let found = DoctorCheck.all.map { check in
                Task(executorPreference: loop) { await check.lines(context, on: loop) { show($0) } }
            }
            var counts: [DoctorLine.State: Int] = [:]
            for lines in found {
                for line in await lines.value { counts[line.state, default: 0] += 1 }
            }
            if !options.isJSON { Terminal.output.line(Self.summary(counts)) }
            return counts[.failure] == nil ? .success : .failed
        }
    }

    private func show(_ line: DoctorLine) {
        var line = line
        line.remedy = CommandAdvice(configPath: options.configPath).completed(line.remedy)
        Terminal.output.line(options.isJSON ? line.json : line.shown(hasColors: Terminal.output.hasColors))
    }

    /// Returns the summary, such as `12 ok, 1 warning, 0 failures, 2 not checked`.
    static func summary(_ counts: [DoctorLine.State: Int]) -> String {
        func count(_ state: DoctorLine.State, _ one: String, _ many: String) -> String {
            let count = counts[state] ?? 0
            return "\(count) \(count == 1 ? one : many)"
        }
        return [
            count(.ok, "ok", "ok"), count(.warning, "warning", "warnings"), count(.failure, "failure", "failures"),
            count(.unseen, "not checked", "not checked"),
        ].joined(separator: ", ")
    }
}
