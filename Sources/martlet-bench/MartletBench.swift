import Glibc
import TestKit

/// Benchmarks of the whole and, later, of its parts. Figures count only within one run: see the floor beside them.
@main struct MartletBench {
    private static let help = """
        Usage: martlet-bench end-to-end [OPTIONS]

        Fills a queue of a private RabbitMQ and has one worker of one lane send it to apns-simulator over TLS, beside the
        floor: a C program that consumes, publishes with confirm and acknowledges, and does nothing else. Both in turns;
        the median of all samples counts. Build first: swift build -c release

          --messages N     of a sample (100000)
          --samples N      of each (5)
          --warm-up N      messages before a sample of the worker begins (10000)
          --in-flight N    messages that may be under way at once (1000)
          --quick          10000 messages, one sample: whether it works, not how fast
          --json           print JSON instead of a table
          --help           print this

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
        guard arguments.first == "end-to-end" else {
            throw UsageError(message: "which benchmark? There is: end-to-end")
        }
        let options = try EndToEndOptions(arguments.dropFirst())
        #if DEBUG
            note("built for debugging: the figures say nothing")
        #endif
        let report = try await EndToEnd(options).run()
        print(options.wantsJSON ? report.json : report.table)
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

struct UsageError: Error {
    let message: String
}
