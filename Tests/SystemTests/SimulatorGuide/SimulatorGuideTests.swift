import JSON
import TestKit
import Testing

extension SystemTests {
    /// The page for those who use the simulator without Martlet: its commands do what it says.
    @Suite struct SimulatorGuide {
        private static let ports: [(option: String, documented: String)] = [
            ("--listen", "2197"), ("--listen-production", "2198"), ("--listen-channels", "2195"),
            ("--listen-production-channels", "2196"), ("--admin", "2199"),
        ]

        private static func page() throws -> String {
            try String(
                decoding: Files.bytes(of: Products.file("Sources/Delivery/Documentation.docc/Simulator.md")),
                as: UTF8.self)
        }

        @Test func `its commands print what it says`() async throws {
            let blocks = GuideBlock.all(of: try Self.page())
            #expect(blocks.count > 10)
            let directory = try TemporaryDirectory("guide")
            let ports = try Self.ports.map {
                (option: $0.option, documented: $0.documented, free: try FreePort.choose())
            }
            // The same command at free ports.
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
            for port in ports {
                script = script.replacing("localhost:\(port.documented)", with: "localhost:\(port.free)")
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

        @Test func `it tells of every route and every switch`() async throws {
            let page = try Self.page()
            let directory = try TemporaryDirectory("guide")
            let simulator = try await SimulatorProcess(in: directory, options: ["--admin", "127.0.0.1:0"])
            let admin = "http://127.0.0.1:\(try #require(simulator.adminPort))"
            let rules = try await Self.json(from: "\(admin)/v1/rules")
            let names = rules.root.members.compactMap(\.key.string)
            #expect(names.count > 20)
            #expect(names.filter { !page.contains("| `\($0)` |") } == [])
            // It lists what there is to whoever asks for what there is not.
            let error = try await Self.json(from: "\(admin)/nothing").root["error"]?.string
            let routes = try #require(error?.split(separator: "there are: ").last).split(separator: ", ")
            #expect(routes.count > 20)
            #expect(routes.filter { !page.contains("| `\($0)` |") } == [])
            try await simulator.process.terminate()
        }

        private static func json(from url: String) async throws -> JSONDocument {
            let lines = try await ChildProcess.run(["curl", "-sS", url]).output
            return try JSONDocument(Array(lines.joined(separator: "\n").utf8))
        }
    }
}
