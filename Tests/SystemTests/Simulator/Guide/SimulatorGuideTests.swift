import JSON
import TestKit
import Testing

extension ToolTests {
    /// The pages for users of the simulator.
    ///
    /// The commands on the pages print the documented output. The guide documents every route, every switch, and every
    /// member of a fault.
    @Suite struct SimulatorGuide {
        private static let ports: [(option: String, documented: String)] = [
            ("--listen", "2197"), ("--listen-production", "2198"), ("--listen-channels", "2195"),
            ("--listen-production-channels", "2196"), ("--admin", "2199"),
        ]

        private static func page(_ name: String = "Guide") throws -> String {
            try String(
                decoding: Files.bytes(of: Products.file("Sources/Documentation/Simulator/\(name).md")),
                as: UTF8.self)
        }

        @Test(arguments: [("Guide", 14), ("Recipes", 11), ("ContinuousIntegration", 2)])
        func `commands print the documented output`(page: String, countMin: Int) async throws {
            let blocks = GuideBlock.all(of: try Self.page(page))
            #expect(blocks.count >= countMin)
            let directory = try TemporaryDirectory("guide")
            let ports = try Self.ports.map {
                (option: $0.option, documented: $0.documented, free: try FreePort.choose())
            }
            // The documented command, with free ports.
            let listen = ports.map { "\($0.option) 127.0.0.1:\($0.free)" }.joined(separator: " ")
            let command = try Products.executable("apns-simulator")
            try directory.write(
                "apns-simulator",
                """
                #!/bin/sh
                case " $* " in
                *" --listen "*) exec "\(command)" "$@" ;;
                *) exec "\(command)" \(listen) "$@" ;;
                esac
                """)
            var script = """
                chmod +x apns-simulator
                PATH=$PWD:$PATH
                mkdir work && cd work
                trap 'kill $(jobs -p) 2> /dev/null' EXIT

                """
            for (index, block) in blocks.enumerated() { script += "echo '@@ \(index)'\n\(block.script)\n" }
            // Replace all ports in one pass, because a free port can start with the digits of a documented port.
            script.replace(/localhost:(\d+)/) { match in
                let free = ports.first { "\($0.documented)" == match.output.1 }?.free
                return "localhost:" + (free.map { "\($0)" } ?? String(match.output.1))
            }
            let file = try directory.write("guide.sh", script)

            let result = try await ChildProcess.run(
                ["bash", "-c", "cd '\(directory.path)' && exec bash '\(file)' 2>&1"], within: .seconds(120))
            var printed = [[String]](repeating: [], count: blocks.count)
            var current = 0
            for line in result.output {
                if line.hasPrefix("@@ "), let number = Int(line.dropFirst(3)) {
                    current = number
                } else {
                    printed[current].append(line)
                }
            }
            for (block, lines) in zip(blocks, printed) {
                #expect(block.matches(lines), "line \(block.line) printed \(lines.joined(separator: "\n"))")
            }
        }

        @Test func `documents every route and every switch`() async throws {
            let page = try Self.page()
            let directory = try TemporaryDirectory("guide")
            let simulator = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"])
            let admin = "http://127.0.0.1:\(try #require(simulator.adminPort))"
            let rules = try await Self.json(from: "\(admin)/v1/rules")
            let switches = rules.root.members.map { "| `\($0.key.string ?? "")` | \(Self.cell($0.value)) |" }
            #expect(switches.count > 20)
            let rows = Self.section("Switches", of: page).filter { $0.hasPrefix("| `") }
            #expect(switches.filter { start in !rows.contains { $0.hasPrefix(start) } } == [])
            #expect(rows.count == switches.count)
            // The error for an unknown route lists all routes.
            let error = try await Self.json(from: "\(admin)/nothing").root["error"]?.string
            let routes = try #require(error?.split(separator: "known paths: ").last).split(separator: ", ")
            #expect(routes.count > 20)
            #expect(routes.filter { !page.contains("| `\($0)` |") } == [])
            try await simulator.process.terminate()
        }

        @Test func `documents every member of a fault`() async throws {
            let section = Self.section("Make a fault", of: try Self.page()).joined(separator: "\n")
            let directory = try TemporaryDirectory("guide")
            let simulator = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"])
            let faults = "http://127.0.0.1:\(try #require(simulator.adminPort))/v1/faults"
            // The error for an unknown member lists all members.
            let unknown = #"{"unheard-of":1}"#
            let bodies =
                [unknown, #"{"action":"silence","match":\#(unknown)}"#, #"{"action":"unheard-of"}"#]
                + ["latency", "answer", "goaway", "stop_reading", "settings"].map {
                    #"{"action":{"\#($0)":\#(unknown)}}"#
                }
                + [#"{"action":{"goaway":{"last_stream_id":\#(unknown)}}}"#]
            for body in bodies {
                let error = try #require(try await Self.json(from: faults, "-d", body).root["error"]?.string)
                let list = try #require(error.firstMatch(of: /; known: ([a-z0-9_, ]+)/)).1
                let undocumented = list.split(separator: ", ").filter {
                    !section.contains("`\($0)`") && !section.contains("\"\($0)\"")
                }
                #expect(undocumented == [], "\(error)")
            }
            try await simulator.process.terminate()
        }

        /// Returns the lines below a heading.
        private static func section(_ heading: String, of page: String) -> ArraySlice<Substring> {
            let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("## ") }
        }

        /// Returns a value in the format of the page's tables.
        private static func cell(_ value: JSONValue) -> String {
            if let word = value.string { return "`\(word)`" }
            if let flag = value.bool { return "\(flag)" }
            return value.int.map { "\($0)" } ?? "null"
        }

        private static func json(from url: String, _ options: String...) async throws -> JSONDocument {
            let lines = try await ChildProcess.run(["curl", "-sS", url] + options).output
            return try JSONDocument(Array(lines.joined(separator: "\n").utf8))
        }
    }
}
