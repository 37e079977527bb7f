import EventLoop
import Glibc
import HTTPClient

/// Shows how workers stand.
struct StatusCommand {
    struct Options: Equatable, Sendable {
        /// nil: all of this user's on this machine.
        var worker: WorkerAddress?
        var watches = false
        var intervalSeconds = 1
        var isJSON = false
        /// Whether only `/livez` is asked for.
        var checksLiveness = false
    }

    let options: Options
    private let client = HTTPClient()

    init(options: Options) { self.options = options }

    func run() -> ExitCode {
        guard !WorkerAddress.all(named: options.worker).isEmpty else { return Self.noWorker }
        if options.checksLiveness { return printLiveness() }
        if options.isJSON { return printJSON() }
        let pause = options.watches && Terminal.output.isTerminal ? RedrawPause() : nil
        defer { pause?.end() }
        var before = look()
        repeat {
            switch wait(pause) {
            case .timePassed: break
            case .quit: return Self.code(before.workers.map(\.report))
            case .signal(let signal): return signal == SIGINT ? .interrupted : .terminated
            }
            let now = look()
            guard draw(now, since: before) else { return .failed }
            before = now
        } while options.watches
        return Self.code(before.workers.map(\.report))
    }

    private func wait(_ pause: RedrawPause?) -> RedrawPause.End {
        if let pause { return pause.wait(seconds: options.intervalSeconds) }
        sleep(UInt32(options.intervalSeconds))
        return .timePassed
    }

    private struct Look {
        var at: ContinuousClock.Instant
        var workers: [(address: WorkerAddress, report: Result<WorkerReport, WorkerReportError>)]
    }

    private func look() -> Look {
        Look(
            at: ContinuousClock.now,
            workers: WorkerAddress.all(named: options.worker).compactMap { address in
                report(of: address).map { (address, $0) }
            })
    }

    /// nil for a socket that its process has left behind.
    private func report(of address: WorkerAddress) -> Result<WorkerReport, WorkerReportError>? {
        let answer: HTTPResponse
        do {
            answer = try address.ask(client, .get, "status")
        } catch {
            if options.worker == nil, error.code == .cannotConnect { return nil }
            return .failure(WorkerReportError(message: error.message))
        }
        do {
            return .success(try WorkerReport(answer))
        } catch {
            return .failure(error)
        }
    }

    private func draw(_ now: Look, since before: Look) -> Bool {
        let lines = now.workers.map { worker in
            let earlier = before.workers.first { $0.address == worker.address }.flatMap { try? $0.report.get() }
            let report = try? worker.report.get()
            let difference = earlier.flatMap { earlier in report?.totals.since(earlier.totals) }
            return StatusTable.Line(address: worker.address.text, report: worker.report, difference: difference)
        }
        let isRedrawn = options.watches && Terminal.output.isTerminal
        let table = StatusTable(
            lines: lines, seconds: (now.at - before.at) / .seconds(1), hasColors: Terminal.output.hasColors,
            window: Terminal.output.window, isRedrawn: isRedrawn)
        let home = isRedrawn ? "\u{1B}[H\u{1B}[J" : ""
        return Terminal.output.write(home + (now.workers.isEmpty ? "no worker\n" : table.text))
    }

    private func printJSON() -> ExitCode {
        repeat {
            var reports: [Result<WorkerReport, WorkerReportError>] = []
            for address in WorkerAddress.all(named: options.worker) {
                guard let report = report(of: address) else { continue }
                reports.append(report)
                switch report {
                case .success(let report):
                    guard Terminal.output.json(report.json) else { return .failed }
                case .failure(let error):
                    Terminal.error.line("martlet: \(address.text): \(error.message)".printable)
                }
            }
            guard options.watches else { return reports.isEmpty ? Self.noWorker : Self.code(reports) }
            sleep(UInt32(options.intervalSeconds))
        } while true
    }

    /// Prints what `/livez` of each worker answers.
    private func printLiveness() -> ExitCode {
        var statuses: [Int] = []
        for address in WorkerAddress.all(named: options.worker) {
            do {
                let answer = try address.ask(client, .get, "livez")
                statuses.append(answer.status)
                let text = answer.text.split(separator: "\n").map { "\($0)".printable + "\n" }.joined()
                guard Terminal.output.write(text) else { return .failed }
            } catch {
                // A process that has ended left its socket behind.
                if options.worker == nil, error.code == .cannotConnect { continue }
                Terminal.error.line("martlet: \(address.text): \(error.message)".printable)
                return .unreachable
            }
        }
        guard !statuses.isEmpty else { return Self.noWorker }
        return statuses.allSatisfy { $0 == 200 } ? .success : .failed
    }

    /// Also where sockets are there and their processes have ended.
    private static var noWorker: ExitCode {
        Terminal.error.line(
            "martlet: \(ControlSocket.advice); --socket names one, and --url http://HOST:9780 asks one elsewhere")
        return .unreachable
    }

    private static func code(_ reports: [Result<WorkerReport, WorkerReportError>]) -> ExitCode {
        let known = reports.compactMap { try? $0.get() }
        guard !known.isEmpty, known.count == reports.count else { return .unreachable }
        return known.allSatisfy(\.isReady) ? .success : .failed
    }
}
