import CommandKit
import TestKit

/// Measures how memory grows.
struct SoakCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["soak"],
        summary: "Follow the memory of apns-simulator, or of a worker, under load.",
        discussion: """
            The simulator makes faults of every kind, which come and go, under load from h2load. A worker pushes many
            messages from a private RabbitMQ to apns-simulator. Fails when the memory is over 10 % more at the end than
            after a tenth of the time or of the messages.
            """,
        options: [
            OptionSyntax(name: "minutes", value: "N", help: "how long (\(Int(SoakOptions().minutes)))"),
            OptionSyntax(name: "worker", help: "follow a worker instead of the simulator"),
            OptionSyntax(name: "messages", value: "N", help: "of the worker (\(SoakOptions().messages))"),
            OptionSyntax(name: "quick", help: "some seconds, however the memory grows"),
        ])

    let options: SoakOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try SoakOptions(parsed) }

    func measure() async throws {
        if options.isOfWorker {
            let growth = try await WorkerSoak(options).run()
            print(WorkerSoak.table(growth))
            guard !options.judges || growth.isSteady else { throw ProcessError("the memory grew") }
            return
        }
        let report = try await Soak(options).run()
        print(report.table)
        guard report.hasLoad else { throw ProcessError("too few pushes were accepted to say anything") }
        guard report.isSteady else { throw ProcessError("the memory grew") }
    }
}
