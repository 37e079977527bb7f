import CommandKit
import Glibc
import TestKit
import Testing

@testable import MartletCLI

/// The configuration file of commands without `--config`.
@Suite struct DefaultConfigurationTests {
    @Test(
        arguments: [
            (nil, 0, .file(DefaultConfiguration.path)), (nil, ENOENT, .none), (nil, ENOTDIR, .none),
            (nil, EACCES, .unreadable(reason: "permission denied")), ("", 0, .none), ("", EACCES, .none),
            ("mine.yaml", 0, .file("mine.yaml")), ("mine.yaml", EACCES, .file("mine.yaml")),
        ] as [(String?, Int32, DefaultConfiguration)])
    func theVariableOverridesTheMachinesFile(_ variable: String?, _ code: Int32, _ expected: DefaultConfiguration) {
        var asked: [String] = []
        let found = DefaultConfiguration.find {
            $0 == DefaultConfiguration.variable ? variable : nil
        } readError: {
            asked.append($0)
            return code
        }
        #expect(found == expected)
        #expect(asked == (variable == nil ? [DefaultConfiguration.path] : []))
    }

    // If the file were ignored, a command could connect to the default broker.
    @Test(arguments: [["worker"], ["doctor"], ["publish", "a"], ["dead", "stats"], ["topology", "print"]])
    func anUnreadableDefaultIsAnError(_ words: [String]) throws {
        let unreadable = DefaultConfiguration.unreadable(reason: "permission denied")
        let error = #expect(throws: UsageError.self) {
            _ = try Program.martlet.request(words, defaults: unreadable.optionDefaults)
        }
        #expect(
            error?.message == "cannot read \(DefaultConfiguration.path): permission denied; pass another file with "
                + "--config FILE or set MARTLET_CONFIG")
        #expect(throws: Never.self) {
            _ = try Program.martlet.request(words + ["--config", "b.yaml"], defaults: unreadable.optionDefaults)
        }
    }

    @Test(arguments: [
        ["validate", "a"], ["status"], ["pause"], ["resume"], ["publish", "a", "--url", "amqp://h"],
        ["worker", "--help"],
    ])
    func anUnneededUnreadableDefaultIsNoError(_ words: [String]) {
        #expect(throws: Never.self) {
            _ = try Program.martlet.request(
                words, defaults: DefaultConfiguration.unreadable(reason: "denied").optionDefaults)
        }
    }

    @Test func validateReportsAnUnreadableDefault() throws {
        let defaults = DefaultConfiguration.unreadable(reason: "denied").optionDefaults
        let path = DefaultConfiguration.path
        func unreadable(_ words: String...) throws -> String? {
            try Program.martlet.command(["validate", "a"] + words, defaults: defaults, as: ValidateCommand.self)
                .options.unreadableConfig
        }
        #expect(try unreadable() == "cannot read \(path): denied")
        #expect(try unreadable("--schema", "s") == nil && unreadable("--config", "c") == nil)
    }

    private func configPath(_ words: String...) throws -> String? {
        let defaults = DefaultConfiguration.file("default.yaml").optionDefaults
        guard case .command(let command) = try Program.martlet.request(words, defaults: defaults) else {
            throw UsageError("\(words) prints a text")
        }
        return switch command {
        case let command as WorkerCommand: command.configPath
        case let command as DoctorCommand: command.options.configPath
        case let command as PublishCommand: command.options.broker.configPath
        case let command as any MessageQueueCommand: command.options.broker.configPath
        case let command as ValidateCommand: command.options.configPath
        default: "another command"
        }
    }

    @Test func everyCommandWithAConfigurationUsesTheDefault() throws {
        #expect(try configPath("worker") == "default.yaml")
        #expect(try configPath("doctor") == "default.yaml")
        #expect(try configPath("publish", "a") == "default.yaml")
        #expect(try configPath("unrouted", "list") == "default.yaml")
        #expect(try configPath("validate", "a") == "default.yaml")
        #expect(try configPath("worker", "--config", "b.yaml") == "b.yaml")
    }

    /// Options that set the broker or the schema also exclude the default configuration.
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
        #expect(named.errors.first?.hasPrefix("martlet: \(path): cannot read the file") == true, "\(named.errors)")
        let none = try await ChildProcess.run([martlet, "worker"])
        #expect(none.errors == ["martlet: option --config FILE is missing (see martlet worker --help)"])
    }
}
