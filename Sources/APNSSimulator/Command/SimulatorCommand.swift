import APNSProtocol
import CommandKit
import EventLoop
import Glibc
import JSON

/// The simulator's only command, which serves until SIGTERM or SIGINT.
struct SimulatorCommand: Command {
    let options: Options

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try Options(parsed) }

    func run() -> ExitCode {
        do throws(SimulatorError) {
            try Self.serve(options)
            return .success
        } catch {
            StandardStream.error.line("apns-simulator: \(error.message)")
            return ExitCode(error.code)
        }
    }

    private static func serve(_ options: Options) throws(SimulatorError) {
        // A process that waits for the file must not find the file of an earlier run.
        if let path = options.readyFile { unlink(path) }
        SignalSource.block([SIGTERM, SIGINT, SIGUSR1])
        let loop = try SimulatorError.converting(.unavailable) { () throws(TransportError) in try EpollLoop() }
        let startup = try StartupData(options, nowMilliseconds: loop.now.unixMilliseconds)
        let outcome = Outcome()
        loop.post {
            do throws(SimulatorError) {
                try SimulatorProcess.start(options, startup, on: loop)
            } catch {
                outcome.failure = error
                loop.stop()
            }
        }
        loop.run()
        if let failure = outcome.failure { throw failure }
    }

    /// The outcome of the start on the event loop: an error, or nil on success.
    ///
    /// `@unchecked Sendable`: the process has only one thread, which runs the loop.
    private final class Outcome: @unchecked Sendable {
        var failure: SimulatorError?
    }
}

/// The running simulator: its server, its admin port and its signal handlers. Prints the addresses, the failed
/// connections and the counters.
private final class SimulatorProcess {
    /// Maximum seconds that open requests have to complete after a termination signal.
    private static let drainDeadlineSeconds = 5

    private let loop: EpollLoop
    private let server: SimulatorServer
    private var signals: SignalSource?
    private var admin: SimulatorAdmin?
    private var isTerminating = false
    private var failureLimit = LineLimit()
    /// Whether the timer that prints the number of omitted lines is set.
    private var isSummaryScheduled = false

    /// Starts serving. The signal source on the loop keeps the process object alive.
    static func start(_ options: Options, _ startup: StartupData, on loop: EpollLoop) throws(SimulatorError) {
        var record: RecordFile?
        if let path = options.recordFile {
            record = try SimulatorError.converting(.cannotWrite) { () throws(TransportError) in
                try RecordFile(path: path, detail: options.recordDetail, loop: loop)
            }
        }
        var configuration = options.configuration
        configuration.limit(connectionsMax: DescriptorLimit.raise())
        let server = SimulatorServer(
            loop: loop, configuration: configuration, state: startup.document.state,
            faults: startup.document.faults, clockOffset: startup.document.clockOffset, record: record)
        let process = SimulatorProcess(loop: loop, server: server)
        server.onFailure = { [unowned process] in process.report($0) }
        try SimulatorError.converting(.unavailable) { () throws(TransportError) in
            process.signals = try SignalSource(loop: loop, signals: [SIGTERM, SIGINT, SIGUSR1]) { signal in
                process.received(signal: signal)
            }
        }
        let endpoints = try options.listeners.endpoints.map { listener, endpoint throws(SimulatorError) in
            try addingRemedy(listener.option) { () throws(TransportError) in
                (listener, try server.listen(on: endpoint, as: listener.service, tls: startup.tls))
            }
        }
        if let endpoint = options.admin {
            process.admin = try addingRemedy("--admin") { () throws(TransportError) in
                try SimulatorAdmin(for: server, on: loop, at: endpoint, hostNames: options.adminHostNames) { count in
                    StandardStream.error.line("apns-simulator: admin connections closed to make room: \(count)")
                }
            }
        }
        let announcement = Announcement(
            endpoints: endpoints, admin: process.admin?.endpoint, options: options, startup: startup)
        server.readyLine = announcement.readyLine
        if let path = options.readyFile { try TextFile.write(announcement.readyLine + "\n", to: path) }
        StandardStream.output.line(announcement.readyLine)
        StandardStream.error.line(announcement.instructions)
    }

    /// Calls `listen`, and adds to its error the option that sets another address.
    private static func addingRemedy<Result>(
        _ option: String, _ listen: () throws(TransportError) -> Result
    ) throws(SimulatorError) -> Result {
        do throws(TransportError) {
            return try listen()
        } catch {
            throw SimulatorError(.unavailable, "cannot listen on \(error); choose another address: \(option) HOST:PORT")
        }
    }

    private init(loop: EpollLoop, server: SimulatorServer) {
        self.loop = loop
        self.server = server
    }

    private func report(_ failure: ConnectionFailure) {
        let line = "connection \(failure.number) (\(failure.service)): \(failure.text)"
        printLines(failureLimit.lines(for: line, now: loop.now.monotonic))
    }

    private func printLines(_ lines: [String]) {
        for line in lines { StandardStream.error.line("apns-simulator: \(line)") }
        guard !isSummaryScheduled, let due = failureLimit.due else { return }
        isSummaryScheduled = true
        loop.schedule(at: due) { [self] in
            isSummaryScheduled = false
            printLines(failureLimit.summary(now: loop.now.monotonic))
        }
    }

    private func received(signal: Int32) {
        guard signal != SIGUSR1 else { return printCounters() }
        guard !isTerminating else { return end() }
        isTerminating = true
        loop.schedule(after: .seconds(Self.drainDeadlineSeconds)) { [self] in end() }
        server.shutDown { [self] in end() }
    }

    private func end() {
        server.abort()
        admin?.close()
        printCounters()
        loop.stop()
    }

    private func printCounters() {
        if let failure = server.recordFailure { StandardStream.error.line("apns-simulator: \(failure)") }
        var json = JSONWriter()
        json.beginObject()
        json.member("event", "counters")
        server.counters.write(to: &json)
        json.endObject()
        StandardStream.output.line(String(decoding: json.bytes, as: UTF8.self))
    }
}
