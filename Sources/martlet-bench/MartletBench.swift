import Glibc
import TestKit

/// Benchmarks of the whole and of its parts. Figures count only within one run: see the floor beside them.
@main struct MartletBench {
    private static let help = """
        Usage: martlet-bench end-to-end|growth|latency|amqp|apns|simulator|schema|soak|instructions [OPTIONS]

        Measures beside a floor: a C program that does the least that the work could cost. Both in turns; the median of all
        samples counts. Figures of other runs say little. Build first: deploy/build, as it is shipped;
        for instructions: deploy/check/simulate 100

        end-to-end: fills a queue of a private RabbitMQ and has workers send it to apns-simulator over TLS. Of the floors,
        floor-relay consumes, publishes with confirm and acknowledges; floor-worker pushes too, and validates nothing.
          --messages N       of a sample (100000)
          --warm-up N        messages before a sample of the workers begins (10000)
          --in-flight N      messages that a lane may have under way at once (1000)
          --delay-ms N       how long the simulator takes to answer (0)
          --payload-bytes N  of a message (205); with more than 4096 they are VoIP pushes
          --apps N           that the messages go to, in turns (1)
          --keys N           of the apps, in turns (1); each has an app at least. The floors have one always
          --lanes N          of each worker (1)
          --workers N        at once (1); the floors are one process always
          --shards N         of the queue of requests (1); the floors take from the queue itself
          --nodes N          of the broker, 1 or 3 (1); its processor time is that of all

        growth: the same beside floor-worker, over a list of values of one of those settings, such as --in-flight 10,100,1000.
          --messages N       of a sample (50000)
          --plot FILE        draw throughput and processor time over the setting, as SVG

        latency: publishes messages at a steady rate and follows each to its result.
          --per-second N,…   rates, one after the other (500)
          --seconds N        at each rate (20)
          --delay-ms N       how long the simulator takes to answer (0)
          --lanes N          of the worker (1)
          --plot FILE        draw latency over the rate, as SVG; at rates from 100 to 16000 unless some are given

        amqp: fills a queue of a private RabbitMQ and has our client of AMQP alone do what floor-relay does. What a run of
        the warm-up alone costs is left out.
          --messages, --warm-up, --in-flight and --payload-bytes: as above

        apns: has our client of APNs alone (pool, provider token, HTTP/2, TLS) and h2load push the same to floor-sink, and says
        how many times h2load's processor time a request costs. What a run of the warm-up alone costs is left out.
          --requests, --warm-up, --connections, --streams and --payload-bytes: as below

        simulator: has h2load push to apns-simulator, which checks everything and keeps its log of requests; the floor
        answers 200 and checks nothing. Fails when the simulator costs more than twice the floor's processor time.
          --requests N       of a sample (200000)
          --warm-up N        requests before it begins (20000)
          --connections N    of the client (4)
          --streams N        of each connection at once (100)
          --payload-bytes N  of a request (205)

        schema: parses and validates the sample alert beside json.loads and jsonschema-rs in Python, counts allocations with
        valgrind, and times what is made to cost much; fails when something takes longer than it may.

        soak: has apns-simulator make faults of every kind, which come and go, under load from h2load, and follows its
        memory; fails when that is over 10 % more at the end than after a tenth of the time.
          --minutes N      how long (60)
          --worker         instead have one worker push many messages from a private RabbitMQ to apns-simulator, and
                           follow the worker's memory; fails when that is over 10 % more at the end than after a tenth
          --messages N     of the worker (1000000)
          --quick          some seconds, whatever it holds

        instructions: has valgrind count what a message costs a lane between scripted peers on virtual time, which says the same
        in every run; fails when that is over \(InstructionCount.growthPercentMax) % more than deploy/check/instructions says.
          --apps N         spread the messages over so many apps, each with a key of its own (1); may cost
                           \(InstructionCount.growthPercentMaxOfApps) % more
          --accept         write what is counted to deploy/check/instructions instead

        all but soak and instructions:
          --samples N      of each (5; growth: 3)
          --quick          few messages, one sample: whether it works, not how fast
          --json           print JSON instead of a table

        Exit codes: 0 measured, 1 something failed, 2 wrong usage.
        """

    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch let error as UsageError {
            fail("\(error.message); see martlet-bench --help", code: 2)
        } catch {
            fail("\(error)", code: 1)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        if arguments.contains("--help") || arguments == ["help"] { return print(help) }
        #if DEBUG
            note("built for debugging: the figures say nothing")
        #endif
        switch arguments.first {
        case "end-to-end":
            let options = try EndToEndOptions(arguments.dropFirst())
            let comparison = try await EndToEnd(options).run()
            print(options.wantsJSON ? comparison.json : comparison.table)
        case "latency":
            let options = try LatencyOptions(arguments.dropFirst())
            let report = try await Latency(options).run()
            print(options.wantsJSON ? report.json : report.table)
            if let plot = options.plot { try ChartSheet(report.chart).write(to: plot) }
        case "simulator":
            let options = try RequestOptions(arguments.dropFirst())
            let report = try await SimulatorLoad(options).run()
            print(options.wantsJSON ? report.json : report.table)
            if !report.isCheap { fail("it costs more than \(SimulatorLoadReport.costMax) times the floor", code: 1) }
        case "apns":
            let options = try RequestOptions(arguments.dropFirst())
            let comparison = try await APNSClient(options).run()
            print(options.wantsJSON ? comparison.json : comparison.table)
        case "amqp":
            let options = try EndToEndOptions(arguments.dropFirst(), settings: AMQPClient.settings)
            let comparison = try await AMQPClient(options).run()
            print(options.wantsJSON ? comparison.json : comparison.table)
        case "growth":
            let options = try GrowthOptions(arguments.dropFirst())
            let (report, failure) = try await Growth(options).run()
            print(options.work.wantsJSON ? report.json : report.table)
            if let plot = options.plot { try report.sheet.write(to: plot) }
            if let failure { throw failure }
        case PushClient.name:
            var arguments = Arguments(arguments.dropFirst())
            let place = try PushClient.Place(&arguments)
            print(try await PushClient.run(RequestOptions(arguments.rest), at: place))
        case RelayClient.name:
            var arguments = Arguments(arguments.dropFirst())
            let port = try arguments.port(for: RelayClient.name)
            print(try await RelayClient.run(EndToEndOptions(arguments.rest, settings: [.inFlight]), port: port))
        case "schema":
            let bench = SchemaBench(options: try SchemaBenchOptions(arguments.dropFirst()))
            if let rounds = bench.options.rounds { return try bench.repeatRounds(rounds) }
            let report = try await bench.run()
            print(bench.options.wantsJSON ? report.json : report.table)
            if !report.failures.isEmpty { fail(report.failures.joined(separator: "; "), code: 1) }
        case "soak":
            let options = try SoakOptions(arguments.dropFirst())
            if options.isOfWorker { return try await soakWorker(options) }
            let report = try await Soak(options).run()
            print(report.table)
            if !report.hasLoad { fail("too few pushes were accepted to say anything", code: 1) }
            if !report.isSteady { fail("the memory grew", code: 1) }
        case "instructions":
            let options = try InstructionOptions(arguments.dropFirst())
            if options.isCounted { return try CountedLane(options).run() }
            let report = try await Instructions(options: options).run()
            print(report.table)
            if options.accepts { return try await Instructions.accept(report.count) }
            if let objection = report.objection { fail(objection, code: 1) }
        default:
            throw UsageError(
                message: """
                    which benchmark? There are: end-to-end, growth, latency, amqp, apns, simulator, schema, soak, \
                    instructions
                    """)
        }
    }

    private static func soakWorker(_ options: SoakOptions) async throws {
        let growth = try await WorkerSoak(options).run()
        print(WorkerSoak.table(growth))
        if options.judges && !growth.isSteady { fail("the memory grew", code: 1) }
    }

    /// What happens meanwhile, for whoever waits.
    static func note(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    private static func fail(_ message: String, code: Int32) -> Never {
        note("martlet-bench: \(message)")
        exit(code)
    }
}
