import CommandKit
import Configuration
import EventLoop

/// Looks at everything that a worker needs, and says of each thing whether it is well and what to do if not.
struct DoctorCommand: Command {
    static let syntax = CommandSyntax(
        path: ["doctor"],
        summary: "Look at everything that a worker needs, and say what to do where something is wrong.",
        discussion: """
            Looks at libraries, the configuration and its files, keys, the broker (name, connection, login, permissions,
            topology, limits of deliveries, queues) and APNs, each apart from the others; changes nothing and takes no message. APNs
            is asked by a push to a device that no one has, for each app: that it refuses the device means that it takes the
            key. Each line is ok, a warning, a failure, or not seen; exit code 0: there is no failure, 1: there is one.
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

    /// `12 ok, 1 warning, 0 failures, 2 not seen`
    static func summary(_ counts: [DoctorLine.State: Int]) -> String {
        func count(_ state: DoctorLine.State, _ one: String, _ many: String) -> String {
            let count = counts[state] ?? 0
            return "\(count) \(count == 1 ? one : many)"
        }
        return [
            count(.ok, "ok", "ok"), count(.warning, "warning", "warnings"), count(.failure, "failure", "failures"),
            count(.unseen, "not seen", "not seen"),
        ].joined(separator: ", ")
    }
}
