import APNSProtocol
import CommandKit
import EventLoop
import Glibc
import JSON

/// Serves until SIGTERM or SIGINT.
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
        // Whoever waits for it must not find one of an earlier run.
        if let path = options.readyFile { unlink(path) }
        SignalSource.block([SIGTERM, SIGINT, SIGUSR1])
        let loop = try SimulatorError.telling(.unavailable) { () throws(TransportError) in try EpollLoop() }
        let world = try World(options, nowMilliseconds: loop.now.unixMilliseconds)
        let outcome = Outcome()
        loop.post {
            do throws(SimulatorError) {
                try SimulatorProcess.start(options, world, on: loop)
            } catch {
                outcome.failure = error
                loop.stop()
            }
        }
        loop.run()
        if let failure = outcome.failure { throw failure }
    }

    /// Why the start on the loop failed.
    ///
    /// `@unchecked Sendable`: the loop runs on the one thread that there is.
    private final class Outcome: @unchecked Sendable {
        var failure: SimulatorError?
    }
}

/// A simulator as a process: tells where it listens, obeys signals. On the loop.
private final class SimulatorProcess {
    /// How long answers and closes may take once it is to end.
    private static let drainDeadlineSeconds = 5

    private let loop: EpollLoop
    private let server: SimulatorServer
    private var signals: SignalSource?
    private var admin: SimulatorAdmin?
    private var isEnding = false
    private var failureLimit = LineLimit()
    /// A timer will say how many lines were left out.
    private var isTellingLeft = false

    /// Starts serving; the loop keeps the process alive through its signals.
    static func start(_ options: Options, _ world: World, on loop: EpollLoop) throws(SimulatorError) {
        var record: RecordFile?
        if let path = options.recordFile {
            record = try SimulatorError.telling(.cannotWrite) { () throws(TransportError) in
                try RecordFile(path: path, detail: options.recordDetail, loop: loop)
            }
        }
        var configuration = options.configuration
        configuration.limit(connectionsMax: DescriptorLimit.raise())
        let server = SimulatorServer(
            loop: loop, configuration: configuration, state: world.document.state,
            faults: world.document.faults, clockOffset: world.document.clockOffset, record: record)
        let process = SimulatorProcess(loop: loop, server: server)
        server.onFailure = { [unowned process] in process.tell($0) }
        try SimulatorError.telling(.unavailable) { () throws(TransportError) in
            process.signals = try SignalSource(loop: loop, signals: [SIGTERM, SIGINT, SIGUSR1]) { signal in
                process.received(signal: signal)
            }
        }
        let endpoints = try options.listeners.endpoints.map { listener, endpoint throws(SimulatorError) in
            try listening(listener.option) { () throws(TransportError) in
                (listener, try server.listen(on: endpoint, as: listener.service, tls: world.tls))
            }
        }
        if let endpoint = options.admin {
            process.admin = try listening("--admin") { () throws(TransportError) in
                try SimulatorAdmin(for: server, on: loop, at: endpoint, hostNames: options.adminHostNames) { count in
                    StandardStream.error.line("apns-simulator: admin port full, slow connections closed: \(count)")
                }
            }
        }
        let announcement = Announcement(
            endpoints: endpoints, admin: process.admin?.endpoint, options: options, world: world)
        server.readyLine = announcement.readyLine
        if let path = options.readyFile { try TextFile.write(announcement.readyLine + "\n", to: path) }
        StandardStream.output.line(announcement.readyLine)
        StandardStream.error.line(announcement.advice)
    }

    /// Listens at the address that `option` says, and tells a failure with the way out.
    private static func listening<Result>(
        _ option: String, _ listen: () throws(TransportError) -> Result
    ) throws(SimulatorError) -> Result {
        do throws(TransportError) {
            return try listen()
        } catch {
            throw SimulatorError(.unavailable, "cannot listen on \(error); \(option) takes another HOST:PORT")
        }
    }

    private init(loop: EpollLoop, server: SimulatorServer) {
        self.loop = loop
        self.server = server
    }

    private func tell(_ failure: ConnectionFailure) {
        let line = "connection \(failure.number) (\(failure.service)): \(failure.text)"
        complain(failureLimit.lines(for: line, now: loop.now.monotonic))
    }

    private func complain(_ lines: [String]) {
        for line in lines { StandardStream.error.line("apns-simulator: \(line)") }
        guard !isTellingLeft, let due = failureLimit.due else { return }
        isTellingLeft = true
        loop.schedule(at: due) { [self] in
            isTellingLeft = false
            complain(failureLimit.linesLeft(now: loop.now.monotonic))
        }
    }

    private func received(signal: Int32) {
        guard signal != SIGUSR1 else { return printCounters() }
        guard !isEnding else { return end() }
        isEnding = true
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
