import CommandKit
import TestKit

/// The command `registrations`, which measures stores of registrations and requests to users.
struct RegistrationsBenchCommand: Benchmark {
    static let syntax = CommandSyntax(
        path: ["registrations"],
        summary: "Measure stores of registrations, and requests to users.",
        discussion: """
            The benchmark starts a private PostgreSQL, RabbitMQ and apns-simulator. It imports the registrations beside COPY
            into the same table, looks users up beside baseline-registrations and pgbench, registers tokens again, and
            pushes to users beside pushes to device tokens. It prints each goal with the measured value, and fails if a
            goal is not met.

            An import of ten million registrations takes long: martlet-bench registrations --users 5000000 --samples 1
            """,
        options: [
            OptionSyntax(name: "users", value: "N", help: "users with two devices (\(standard.users))"),
            OptionSyntax(
                name: "seconds", value: "N",
                help: "duration of each sample of lookups, registrations and latencies (\(standard.seconds))"),
            .messages(standard.messages), .samples(standard.samples), .quick, .json,
        ])

    private static let standard = RegistrationsOptions()

    let options: RegistrationsOptions

    init(_ parsed: ParsedArguments) throws(UsageError) { options = try RegistrationsOptions(parsed) }

    func measure() async throws {
        let report = try await RegistrationsBench(options).run()
        print(options.wantsJSON ? report.json : report.table)
        let missed = report.goals.count { !$0.isMet }
        guard missed == 0 || !options.enforcesGoals else {
            throw ProcessError("\(missed) of \(report.goals.count) goals are not met")
        }
    }
}
