import JSON
import TestKit
import Testing

extension BenchmarkTests {
    @Suite struct Benchmark {
        @Test func simulatorBenchmarkMeasuresBothServers() async throws {
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "simulator", "--quick", "--requests", "4000", "--json",
                ])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            for server in ["baseline", "simulator"] {
                let median = try #require(report[key: server]?[key: "median"])
                #expect(try #require(median[key: "requests_per_second"]?.double) > 0)
                #expect(try #require(median[key: "cpu_us_per_request"]?.double) > 0)
            }
        }

        @Test func endToEndMeasuresWorkersAndBothBaselines() async throws {
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "end-to-end", "--samples", "1", "--messages", "2000",
                    "--warm-up", "200", "--delay-ms", "1", "--payload-bytes", "5000", "--apps", "3", "--keys", "2",
                    "--lanes", "2", "--workers", "2", "--json",
                ])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            #expect(report["message_bytes"]?.int == 5244)
            for program in ["baseline-relay", "baseline-worker", "martlet"] {
                let median = try #require(report[key: program]?["median"])
                #expect(try #require(median["messages_per_second"]?.double) > 0)
                #expect(try #require(median["cpu_us_per_message"]?.double) > 0)
                #expect(try #require(median["peak_mb"]?.double) > 0)
            }
        }

        @Test func apnsMeasuresOurClientAndH2load() async throws {
            let result = try await ChildProcess.run(
                [Products.executable("martlet-bench"), "apns", "--quick", "--json"])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            #expect(try #require(report["cost_in_terms_of_h2load"]?.double) > 0)
            for program in ["h2load", "martlet"] {
                let median = try #require(report[key: program]?["median"])
                for figure in ["requests_per_second", "cpu_us_per_request", "server_us_per_request", "peak_mb"] {
                    #expect(try #require(median[key: figure]?.double) > 0, "\(program): \(figure)")
                }
                try expectSplit(median, by: "request")
            }
            let median = try #require(report["martlet"]?["median"])
            let (p50, p99) = try (#require(median["p50_ms"]?.double), #require(median["p99_ms"]?.double))
            #expect(p50 > 0 && p99 >= p50)
        }

        @Test func amqpMeasuresOurClientAndTheBaseline() async throws {
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "amqp", "--quick", "--in-flight", "100", "--payload-bytes",
                    "1000", "--json",
                ])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            #expect(report["message_bytes"]?.int == 1245)
            for program in ["baseline-relay", "martlet"] {
                let median = try #require(report[key: program]?["median"])
                for figure in ["messages_per_second", "cpu_us_per_message", "broker_us_per_message", "peak_mb"] {
                    #expect(try #require(median[key: figure]?.double) > 0, "\(program): \(figure)")
                }
                try expectSplit(median, by: "message")
            }
        }

        /// Checks that user and system time add up to the CPU time.
        private func expectSplit(_ median: JSONValue, by unit: String) throws {
            let parts = try ["user", "system", "cpu"].map { part in
                try #require(median[key: "\(part)_us_per_\(unit)"]?.double)
            }
            #expect(parts[0] >= 0 && parts[1] >= 0 && abs(parts[0] + parts[1] - parts[2]) < 0.01)
        }

        @Test func growthMeasuresAtEachValue() async throws {
            let directory = try TemporaryDirectory("growth")
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "growth", "--quick", "--in-flight", "10,200", "--plot",
                    directory.file("growth.svg"), "--json",
                ])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            #expect(report["setting"]?.string == "in-flight")
            let values = try #require(report["values"]).elements
            #expect(values.map { $0["value"]?.int } == [10, 200])
            for value in values {
                for program in ["baseline-worker", "martlet"] {
                    let figures = try #require(value[key: program]?["median"])
                    #expect(try #require(figures["messages_per_second"]?.double) > 0)
                    #expect(try #require(figures["cpu_us_per_message"]?.double) > 0)
                }
            }
            let plot = try directory.read("growth.svg")
            #expect(plot.hasPrefix("<svg ") && plot.hasSuffix("</svg>\n"))
            for text in ["Throughput", "requests in flight", "200", "baseline-worker", "martlet"] {
                #expect(plot.contains(">\(text)<"), "\(text)")
            }
            #expect(plot.split(separator: "<polyline ").count == 6)
        }

        @Test func latencyFollowsEachRequestToItsResult() async throws {
            let directory = try TemporaryDirectory("latency")
            let file = directory.file("latency.svg")
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "latency", "--samples", "1", "--seconds", "1", "--per-second",
                    "100,200", "--delay-ms", "20", "--plot", file, "--json",
                ])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            let rates = try #require(report["rates"]).elements
            #expect(rates.map { $0["messages_per_second"]?.int } == [100, 200])
            for rate in rates {
                for (program, least) in [("baseline-relay", 0.0), ("baseline-worker", 20), ("martlet", 20)] {
                    let figures = try #require(rate[key: program])
                    let (p50, p99) = try (#require(figures["p50_ms"]?.double), #require(figures["p99_ms"]?.double))
                    #expect(p50 > least && p99 >= p50, "\(program)")
                    #expect(try #require(figures["cpu_us_per_message"]?.double) > 0)
                }
            }
            let plot = try directory.read("latency.svg")
            #expect(plot.hasPrefix("<svg ") && plot.hasSuffix("</svg>\n"))
            for name in ["baseline-relay p50", "baseline-worker p99", "martlet p50"] {
                #expect(plot.contains(">\(name)<"))
            }
            #expect(plot.split(separator: "<polyline ").count == 7)
        }

        @Test func registrationsMeasuresStoresAndPushesToUsers() async throws {
            let result = try await ChildProcess.run(
                [
                    Products.executable("martlet-bench"), "registrations", "--quick", "--users", "600", "--messages",
                    "1000", "--json",
                ], within: TestTimeout.duration * 2)
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let report = try JSONDocument(result.output.joined()).root
            #expect(report["stored_registrations"]?.int == 2280)
            let stores = ["martlet", "martlet, SQLite", "baseline-registrations"]
            for (section, unit, programs) in [
                ("import", "row", ["martlet", "martlet, SQLite", "COPY"]),
                ("lookups", "user", stores + ["pgbench, 8 clients"]),
                ("registrations", "registration", stores + stores.map { "\($0), 1" }),
            ] {
                for program in programs {
                    let rate = report[key: section]?[key: program]?[key: "\(unit)s_per_second"]?.double
                    #expect(try #require(rate, "\(section), \(program)") > 0)
                }
            }
            for section in ["pushes_postgresql", "pushes_sqlite"] {
                for target in ["token", "user", "octet"] {
                    let figures = try #require(report[key: section]?[key: target])
                    #expect(try #require(figures["cpu_us_per_request"]?.double) > 0)
                    #expect((figures["p50_ms"] != nil) == (target != "octet"))
                }
            }
            let libraries = ["without", "PostgreSQL", "SQLite"].map {
                report["memory"]?[key: $0]?["libraries"]?.double
            }
            #expect(libraries == [0, 1, 1])
            let goals = Array(try #require(report["goals"]).elements)
            #expect(goals.count == 13)
            for goal in goals { #expect(goal["value"]?.double != nil && goal["met"]?.bool != nil) }
        }

        @Test func soakRunsEveryFaultPhase() async throws {
            let result = try await ChildProcess.run(
                [Products.executable("martlet-bench"), "soak", "--quick"])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            for phase in ["calm", "slow", "wrong", "cut", "moving", "mixed"] {
                #expect(result.output.contains { $0.hasSuffix("after \(phase)") }, "\(phase)")
            }
            let faults = try #require(result.output.first { $0.hasPrefix("Faults: ") })
            #expect(faults.contains("latency ") && faults.contains("answer ") && faults.contains("reset_stream "))
        }

        @Test func soakMeasuresTheMemoryOfAWorker() async throws {
            let result = try await ChildProcess.run(
                [Products.executable("martlet-bench"), "soak", "--worker", "--quick"])
            #expect(result.exit.status == .exited(0), "\(result.errors)")
            let figures = result.output.compactMap { line in line.split(separator: " ").first.flatMap { Int($0) } }
            #expect(figures.last == 5000)
        }

        @Test(arguments: [
            ("simulator --samples 0", "option --samples: expected a whole number from 1 to 1000, got '0'"),
            ("apns --warm-up 3", "options --requests and --warm-up must be at least 4, the number of connections"),
            ("amqp --delay-ms 1", "unknown option --delay-ms"),
            (
                "apns --payload-bytes 5000",
                "option --payload-bytes: expected a whole number from 205 to 4096, got '5000'"
            ),
            ("growth", "a setting with several values is missing, such as --in-flight 10,100,1000"),
            (
                "growth --apps 1,",
                "option --apps: expected whole numbers from 1 to 10000, separated by commas, got '1,'"
            ),
            ("growth --apps 1,2 --keys 1,2", "only one setting can have several values: --apps or --keys"),
            ("registrations --users 1", "option --users: expected a whole number from 512 to 50000000, got '1'"),
        ]) func invalidArgumentsAreExplained(use: String, explanation: String) async throws {
            let result = try await ChildProcess.run(
                [Products.executable("martlet-bench")] + use.split(separator: " ").map(String.init))
            #expect(result.exit.status == .exited(2))
            let command = use.split(separator: " ")[0]
            #expect(result.errors == ["martlet-bench: \(explanation) (see martlet-bench \(command) --help)"])
        }

        @Test(arguments: ["", "growth", "instructions"]) func theBenchmarkHasManualPages(_ command: String) async throws
        {
            let bench = try Products.executable("martlet-bench")
            let page = try await ChildProcess.run([bench] + (command.isEmpty ? [] : [command]) + ["--manual"])
            let folder = try TemporaryDirectory("manual")
            let file = try folder.write("page.1", page.output.map { $0 + "\n" }.joined())
            let shown = try await ChildProcess.run(["env", "MANWIDTH=100", "man", "--warnings", "-l", file])
            #expect(shown.exit.status == .exited(0) && shown.errors == [])
            let name = command.isEmpty ? "martlet-bench" : "martlet-bench-\(command)"
            #expect(shown.output.contains { $0.contains("\(name) - ") })
            #expect(!shown.output.contains { $0.contains("counted-lane") })
        }

        @Test(arguments: [
            ("lat", ["latency"]), ("reg", ["registrations"]), ("store", []), ("latency --per", ["--per-second"]),
            ("--completion ", ["bash", "zsh"]), ("push", []),
        ])
        func bashCompletesTheBenchmark(_ line: String, _ offered: [String]) async throws {
            let bench = try Products.executable("martlet-bench")
            let script = try await ChildProcess.run([bench, "--completion", "bash"]).output.map { $0 + "\n" }.joined()
            let folder = try TemporaryDirectory("completion")
            let offers = try await BashOffers.completing(line, of: "martlet-bench", by: script, in: folder)
            #expect(offers == Set(offered))
        }

        @Test func zshParsesTheCompletionScript() async throws {
            let bench = try Products.executable("martlet-bench")
            let script = try await ChildProcess.run([bench, "--completion", "zsh"]).output.map { $0 + "\n" }.joined()
            let folder = try TemporaryDirectory("completion")
            let checked = try await ChildProcess.run(["zsh", "-n", try folder.write("_martlet-bench", script)])
            #expect(checked.exit.status == .exited(0) && checked.errors == [])
        }
    }
}
