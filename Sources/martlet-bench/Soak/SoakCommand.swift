import CommandKit
import TestKit

/// The command `soak`, which measures the growth of memory.
struct SoakCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["soak"],
        summary: "Measure the memory growth of apns-simulator, or of a worker, under load.",
        discussion: """
            The simulator serves h2load in phases with different faults. With --worker, a worker pushes requests from a
            private RabbitMQ to apns-simulator. The command fails if the memory grows by more than 10 % after a tenth of the
            time or of the requests.
            """,
        options: [
            OptionSyntax(
                name: "minutes", value: "N", help: "minutes of load on the simulator (\(Int(SoakOptions().minutes)))"),
            OptionSyntax(name: "worker", help: "measure a worker instead of the simulator"),
            OptionSyntax(name: "messages", value: "N", help: "requests for the worker (\(SoakOptions().messages))"),
            OptionSyntax(name: "quick", help: "run briefly, without a limit on memory growth"),
        ])

    let options: SoakOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try SoakOptions(parsed) }

    func measure() async throws {
        if options.measuresWorker {
            let growth = try await WorkerSoak(options).run()
            print(WorkerSoak.table(growth))
            guard !options.enforcesLimits || growth.isSteady else { throw ProcessError(Self.growthText) }
            return
        }
        let report = try await Soak(options).run()
        print(report.table)
        guard report.hasLoad else { throw ProcessError("too few pushes were accepted for a valid measurement") }
        guard report.isSteady else { throw ProcessError(Self.growthText) }
    }

    private static let growthText = "memory grew by more than 10 %"
}
