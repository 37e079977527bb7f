import AMQP
import Actions
import Configuration
import ControlProtocol
import EventLoop
import History
import TestKit

/// The benchmark of the console, of its history and of fleet control.
struct ConsoleBench {
    private static let sections = "fleet: {}\njournal: {}\n"
    private static let batchesPerRound = 5
    private static let roundsPerSecond =
        ConsoleOptions.indexedPerSecond / (batchesPerRound * JournalLoad.resultsPerBatch)
    private static let pauseRounds = 5
    /// Maximum time in which the history must reach the end of the journal after a load.
    private static let catchUpSecondsMax = 120

    let options: ConsoleOptions

    func run() async throws -> ConsoleReport {
        var report = ConsoleReport(benchmark: "console", options: options)
        let history = try HistoryBench(options: options).run(&report)
        MartletBench.log("private broker and simulator starting")
        let journal = try await WorkerFixture(more: Self.sections)
        let plain = try journal.configured("plain", more: "")
        try await WorkerJournal(options: options, plain: plain, journal: journal).run(&report)
        let socket = history.directory.file("control")
        let settings = "listen: \"127.0.0.1:0\", socket: \"\(socket)\", history: {folder: \"\(history.folder.path)\"}"
        let configuration = try journal.configured("console", more: "\(Self.sections)console: {\(settings)}\n")
            .configuration
        let console = try await ConsoleProcess(configuration: configuration, socket: socket)
        report = try await onEpollLoop { [report] loop in
            var report = report
            try await control(&report, journal, configuration, on: loop)
            return report
        }
        try await browse(&report, console, journal)
        report.goals += [
            Goal("6. memory of the console, peak MB", Double(console.process.peakResidentBytes) / 1e6, .atMost(150)),
            Goal("6. page, KB", Double(try await console.pageBytes()) / 1000, .atMost(250)),
        ]
        try await console.end()
        try await journal.end()
        return report
    }

    // MARK: Fleet control

    /// Measures the broker with and without the workers of a fleet, and commands to them. The console is one watcher.
    private func control(
        _ report: inout ConsoleReport, _ fixture: WorkerFixture, _ configuration: String, on loop: EpollLoop
    ) async throws {
        let connector = try BrokerConnector(try ConfigurationFile(configuration).console().broker)
        let watcher = FleetSession(connector, on: loop, command: "martlet-bench")
        try await watcher.open()
        MartletBench.log("broker without workers measured for \(2 * options.seconds) s")
        let idle = try await brokerShare(fixture)
        let fleet = SimulatedFleet(connector, count: options.workers, on: loop)
        try await fleet.waitForFirstRecord()
        MartletBench.log("broker with \(options.workers) workers measured for \(2 * options.seconds) s")
        let busy = try await brokerShare(fixture)
        report.goals.append(
            Goal("1. \(options.workers) workers and two watchers, % of a broker's core", busy - idle, .atMost(0.5)))
        report.figures.append(
            Figure(title: "broker without workers, % of a core", key: "idle_broker_percent", value: idle, places: 2))
        report.goals.append(
            Goal("5. pause in force, s", try await pause(fleet, configuration), .atMost(1)))
        let start = ContinuousClock.now
        let output = try await MartletProcess.run("status", "--fleet", "--config", configuration)
        report.goals.append(
            Goal("5. status --fleet, s", (ContinuousClock.now - start).microseconds / 1e6, .atMost(2)))
        guard output.contains(where: { $0.contains("\(options.workers)") }) else {
            throw ProcessError("status --fleet does not count \(options.workers) workers: \(output.suffix(3))")
        }
        await fleet.close()
        await watcher.close()
    }

    /// Returns the processor time of the broker, in percent of a core, over a multiple of the interval of reports.
    private func brokerShare(_ fixture: WorkerFixture) async throws -> Double {
        let (start, before) = (ContinuousClock.now, await fixture.broker.processorTime())
        try await Task.sleep(for: .seconds(2 * options.seconds))
        let used = await fixture.broker.processorTime() - before
        return used.microseconds / (ContinuousClock.now - start).microseconds * 100
    }

    /// Returns the longest time, in seconds, from the start of a command until its pause or resumption is in force in
    /// the last worker.
    private func pause(_ fleet: SimulatedFleet, _ configuration: String) async throws -> Double {
        var longest = Duration.zero
        for _ in 0..<Self.pauseRounds {
            for words in [["pause", "--reason", "benchmark", "--until", "1h"], ["resume"]] {
                let next = (fleet.newestRecord ?? 0) + 1
                let start = ContinuousClock.now
                async let command = ChildProcess.run(
                    [Products.executable("martlet")] + words
                        + ["--fleet", "--topic", "com.example.app", "--config", configuration])
                longest = max(longest, try await fleet.waitForRecord(next) - start)
                let (exit, _, errors) = try await command
                guard exit.status == .exited(0) else { throw ProcessError("martlet \(words[0]): \(errors)") }
            }
        }
        return longest.microseconds / 1e6
    }

    // MARK: History

    /// Measures the API while the console indexes.
    private func browse(
        _ report: inout ConsoleReport, _ console: ConsoleProcess, _ fixture: WorkerFixture
    ) async throws {
        MartletBench.log("API measured for \(options.seconds) s while \(ConsoleOptions.indexedPerSecond)/s are indexed")
        let load = APILoad(console: console, rows: options.rows, seconds: options.seconds)
        async let published = publish(fixture)
        let latencies = try await load.run()
        try await published
        let start = ContinuousClock.now
        try await poll(until: "a history of the whole journal", within: .seconds(Self.catchUpSecondsMax)) {
            try await console.secondsBehind() == 0
        }
        let behind = (ContinuousClock.now - start).microseconds / 1e6
        let (find, all) = (latencies.find.sorted(), (latencies.find + latencies.other).sorted())
        guard !find.isEmpty else { throw ProcessError("too few requests; increase --seconds") }
        report.goals += [
            Goal("4. API while indexing, p99 ms", Percentiles(of: all).p99, .atMost(100)),
            Goal("4. find while indexing, p99 ms", Percentiles(of: find).p99, .atMost(20)),
        ]
        report.figures += [
            Figure(title: "API while indexing, p50 ms", key: "api_p50_ms", value: Percentiles(of: all).p50, places: 2),
            Figure(title: "s behind the journal after the load", key: "behind_s", value: behind, places: 1),
        ]
    }

    /// Publishes results to the journal at a constant rate.
    private func publish(_ fixture: WorkerFixture) async throws {
        let load = JournalLoad(at: HistoryBench.load.at, boot: 2)
        // Behind the results that the history contains.
        let first = (options.rows / JournalLoad.resultsPerBatch / JournalLoad.workers + 1) * JournalLoad.workers
        let start = ContinuousClock.now
        for round in 0..<options.seconds * Self.roundsPerSecond {
            let wait = start + .milliseconds(round * 1000 / Self.roundsPerSecond) - .now
            if wait > .zero { try await Task.sleep(for: wait) }
            try await fixture.testClient.publish(Self.batchesPerRound) { number in
                let batch = first + round * Self.batchesPerRound + number
                return OutgoingMessage(
                    exchange: "push.fleet", routingKey: "journal.w\(batch % JournalLoad.workers)",
                    body: load.body(batch), messageID: "j\(batch)", type: JournalBatch.type)
            }
        }
    }
}
