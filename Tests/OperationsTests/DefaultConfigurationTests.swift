import TestKit
import Testing

@testable import Operations

/// Which file commands read that are given none.
@Suite struct DefaultConfigurationTests {
    @Test(arguments: [
        (nil, true, DefaultConfiguration.path), (nil, false, nil), ("", true, nil), ("mine.yaml", true, "mine.yaml"),
        ("mine.yaml", false, "mine.yaml"),
    ])
    func theVariableWinsOverTheFileOfTheMachine(_ variable: String?, _ isReadable: Bool, _ expected: String?) {
        var asked: [String] = []
        let found = DefaultConfiguration.find {
            $0 == DefaultConfiguration.variable ? variable : nil
        } isReadable: {
            asked.append($0)
            return isReadable
        }
        #expect(found == expected)
        #expect(asked == (variable == nil ? [DefaultConfiguration.path] : []))
    }

    private func configPath(_ words: String...) throws -> String? {
        switch try Invocation.parse(words, defaultConfig: "default.yaml") {
        case .worker(let path): path
        case .doctor(let options): options.configPath
        case .publish(let options): options.broker.configPath
        case .deadLetters(let options): options.broker.configPath
        case .validate(let options): options.configPath
        default: "another command"
        }
    }

    @Test func everyCommandWithAConfigurationTakesIt() throws {
        #expect(try configPath("worker") == "default.yaml")
        #expect(try configPath("doctor") == "default.yaml")
        #expect(try configPath("publish", "a") == "default.yaml")
        #expect(try configPath("unrouted", "list") == "default.yaml")
        #expect(try configPath("validate", "a") == "default.yaml")
        #expect(try configPath("worker", "--config", "b.yaml") == "b.yaml")
    }

    /// What says where the broker is, or what documents are checked by, leaves no room for it.
    @Test func anOptionThatExcludesAConfigurationExcludesTheDefault() throws {
        #expect(try configPath("publish", "a", "--url", "amqp://h") == nil)
        #expect(try configPath("dead", "list", "--prefix", "p") == nil)
        #expect(try configPath("validate", "--schema", "s", "a") == nil)
    }

    @Test func aProcessReadsTheFileThatTheVariableNames() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("absent.yaml")
        let martlet = try Products.executable("martlet")
        let named = try await ChildProcess.run(["env", "MARTLET_CONFIG=\(path)", martlet, "dead", "stats"])
        #expect(named.exit.status == .exited(2))
        #expect(named.errors.first?.hasPrefix("martlet: \(path): cannot read it") == true, "\(named.errors)")
        let none = try await ChildProcess.run([martlet, "worker"])
        #expect(none.errors == ["martlet: option --config FILE is missing (see martlet worker --help)"])
    }
}
