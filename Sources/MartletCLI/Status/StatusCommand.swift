import CommandKit
import Configuration
import ControlProtocol
import EventLoop
import Glibc
import HTTPClient
import Text

/// The command that shows the status of workers.
struct StatusCommand: ConfiguredCommand {
    static let syntax = CommandSyntax(
        path: ["status"],
        summary: "Show the status of the workers on this machine, or of one remote worker.",
        discussion: """
            Find the workers of this user by their control sockets. Show for each worker whether the worker consumes
            requests, and if not, the reason; rates during the last interval; held routes; and queue depths. --watch
            redraws the table, cut to the window, until q or Ctrl-C. --json prints the response of each worker to
            /status on one line. Exit code 0: all workers are ready, 1: a worker is not ready, 3: no worker was found,
            or a worker is unreachable. With --live, exit code 0: every lane of every worker makes progress, 1: a lane
            is stalled. --live is mutually exclusive with --watch, --interval and --json.

            With --fleet, show the workers at the broker of --config or --url whose configuration has the section fleet,
            and compare their consumers with the consumers that the broker counts. --json then prints each report.
            """,
        options: [
            WorkerAddress.socketOption,
            OptionSyntax(
                name: "url", value: "URL", help: "admin endpoint of the worker; with --fleet: URL of the broker",
                replacedDefault: "config"),
            OptionSyntax(name: "fleet", help: "all workers at the broker"), .config().requiring("fleet"),
            .prefix.requiring("fleet"),
            OptionSyntax(name: "watch", help: "redraw until q or an interrupt"),
            OptionSyntax(name: "interval", value: "SECONDS", help: "refresh interval (default: 1)"),
            OptionSyntax(name: "json", help: "print JSON, one line per worker"),
            OptionSyntax(name: "live", help: "print only the responses to /livez, for liveness probes"),
        ])

    struct Options: Equatable, Sendable {
        /// The worker; nil for all workers of this user on this machine.
        var worker: WorkerAddress?
        var watches = false
        var intervalSeconds = 1
        var isJSON = false
        /// Whether to request only `/livez`.
        var checksLiveness = false
        /// The fleet; nil for workers that this command reaches directly.
        var fleet: FleetStatus?
    }

    let options: Options
    private let addresses: @Sendable () -> [WorkerAddress]

    init(_ parsed: ParsedArguments) throws(UsageError) { self.init(options: try Options(parsed)) }

    /// Creates the command.
    ///
    /// - Parameter addresses: returns the possible addresses of workers. Default: the worker that `options` names, or
    ///   all workers of this user.
    init(options: Options, addresses: (@Sendable () -> [WorkerAddress])? = nil) {
        self.options = options
        self.addresses = addresses ?? { WorkerAddress.all(named: options.worker) }
    }

    func execute() throws(ConfigurationError) -> ExitCode {
        if let fleet = options.fleet { return try fleet.execute() }
        guard !addresses().isEmpty else { return Self.reportNoWorker() }
        if options.checksLiveness { return printLiveness() }
        if options.isJSON { return printJSON() }
        let pause = options.watches && Terminal.output.isTerminal ? RedrawPause() : nil
        defer { pause?.end() }
        var code = ExitCode.success
        do throws(RedrawPause.End) {
            var before = try snapshot(pause)
            code = Self.code(before.workers.map(\.answer))
            repeat {
                try wait(pause)
                let now = try snapshot(pause)
                guard draw(now, since: before) else { return .failed }
                before = now
                code = Self.code(before.workers.map(\.answer))
            } while options.watches
            return code
        } catch {
            return switch error {
            case .quit: code
            case .signal(let signal): signal == SIGINT ? .interrupted : .terminated
            }
        }
    }

    private func wait(_ pause: RedrawPause?) throws(RedrawPause.End) {
        if let pause { return try pause.wait(seconds: options.intervalSeconds) }
        sleep(UInt32(options.intervalSeconds))
    }

    private struct Snapshot {
        var at: ContinuousClock.Instant
        var workers: [(address: WorkerAddress, answer: Result<StatusAnswer, StatusError>)]
    }

    /// Requests the status of all workers. With a `pause`, `q` and signals interrupt the requests, because an
    /// unresponsive worker may delay the snapshot by seconds.
    private func snapshot(_ pause: RedrawPause?) throws(RedrawPause.End) -> Snapshot {
        guard let pause else { return snapshot() }
        return try pause.value { snapshot() }
    }

    private func snapshot() -> Snapshot {
        let client = HTTPClient()
        return Snapshot(
            at: ContinuousClock.now,
            workers: addresses().compactMap { address in
                address.status(client, isNamed: options.worker != nil).map { (address, $0) }
            })
    }

    private func draw(_ now: Snapshot, since before: Snapshot) -> Bool {
        let lines = now.workers.map { worker in
            let earlier = before.workers.first { $0.address == worker.address }.flatMap { try? $0.answer.get() }
            let answer = try? worker.answer.get()
            let difference = earlier.flatMap { answer?.status.totals.since($0.status.totals) }
            return StatusTable.Line(
                address: worker.address.text, status: worker.answer.map(\.status), difference: difference)
        }
        let isRedrawn = options.watches && Terminal.output.isTerminal
        let table = StatusTable(
            lines: lines, seconds: (now.at - before.at) / .seconds(1), hasColors: Terminal.output.hasColors,
            window: Terminal.output.window, isRedrawn: isRedrawn)
        let home = isRedrawn ? "\u{1B}[H\u{1B}[J" : ""
        return Terminal.output.write(home + (now.workers.isEmpty ? "no worker\n" : table.text))
    }

    private func printJSON() -> ExitCode {
        let client = HTTPClient()
        repeat {
            var answers: [Result<StatusAnswer, StatusError>] = []
            for address in addresses() {
                guard let answer = address.status(client, isNamed: options.worker != nil) else { continue }
                answers.append(answer)
                switch answer {
                case .success(let answer):
                    guard Terminal.output.json(answer.json) else { return .failed }
                case .failure(let error):
                    Terminal.error.line("martlet: \(address.text): \(error.message)".printable)
                }
            }
            guard options.watches else { return answers.isEmpty ? Self.reportNoWorker() : Self.code(answers) }
            sleep(UInt32(options.intervalSeconds))
        } while true
    }

    /// Prints the response of each worker to `/livez`.
    private func printLiveness() -> ExitCode {
        let client = HTTPClient()
        var statuses: [Int] = []
        for address in addresses() {
            do {
                let answer = try address.request(client, .get, "livez")
                statuses.append(answer.status)
                let text = answer.text.split(separator: "\n").map { "\($0)".printable + "\n" }.joined()
                guard Terminal.output.write(text) else { return .failed }
            } catch {
                // The socket of a killed process remains.
                if options.worker == nil, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(address.text): \(error.message)".printable)
                return .unreachable
            }
        }
        guard !statuses.isEmpty else { return Self.reportNoWorker() }
        return statuses.allSatisfy { $0 == 200 } ? .success : .failed
    }

    /// Prints that no worker was found. Returns the exit code.
    private static func reportNoWorker() -> ExitCode {
        Terminal.error.line(
            "martlet: \(ControlSocket.advice); pass --socket PATH, or --url http://HOST:9780 for a remote worker")
        return .unreachable
    }

    private static func code(_ answers: [Result<StatusAnswer, StatusError>]) -> ExitCode {
        let known = answers.compactMap { try? $0.get() }
        guard !known.isEmpty, known.count == answers.count else { return .unreachable }
        return known.allSatisfy(\.status.isReady) ? .success : .failed
    }
}

extension StatusCommand.Options {
    init(_ parsed: ParsedArguments) throws(UsageError) {
        if parsed.has("live"), let other = ["watch", "interval", "json"].first(where: { parsed.has($0) }) {
            throw UsageError("options --\(other) and --live are mutually exclusive")
        }
        if parsed.has("fleet") {
            if let other = ["socket", "watch", "interval", "live"].first(where: { parsed.has($0) }) {
                throw UsageError("options --fleet and --\(other) are mutually exclusive")
            }
            fleet = FleetStatus(broker: try BrokerOptions(parsed), isJSON: parsed.has("json"))
            return
        }
        worker = try WorkerAddress(parsed)
        watches = parsed.has("watch")
        intervalSeconds = try parsed.integer("interval", upTo: 3600) ?? intervalSeconds
        isJSON = parsed.has("json")
        checksLiveness = parsed.has("live")
    }
}
