import Text

/// The options of this invocation, which complete the commands in a remedy so that a pasted command works.
package struct CommandAdvice: Sendable, Equatable {
    private let ofBroker: String
    private let ofTopologyPrint: String
    /// Options of commands that need a configuration file.
    private let ofFile: String

    /// Creates advice from the options of each kind of command, each with a leading space.
    ///
    /// - Parameters:
    ///   - ofBroker: options of commands that connect to the broker.
    ///   - ofTopologyPrint: options of `martlet topology print`.
    ///   - ofFile: options of commands that need a configuration file.
    package init(ofBroker: String, ofTopologyPrint: String, ofFile: String) {
        self.ofBroker = ofBroker
        self.ofTopologyPrint = ofTopologyPrint
        self.ofFile = ofFile
    }

    package init(configPath: String) {
        let option = " --config \(Shell.word(configPath))"
        self.init(ofBroker: option, ofTopologyPrint: option, ofFile: option)
    }

    /// Returns a text with the options behind each command.
    package func completed(_ text: String) -> String {
        commands.reduce(text) { $0.replacing($1.name, with: $1.name + $1.options) }
    }

    /// Returns a command line with the options behind the name of the command. Its arguments may name other commands.
    package func completedCommand(_ line: String) -> String {
        guard let command = commands.first(where: { line == $0.name || line.hasPrefix($0.name + " ") }) else {
            return line
        }
        return command.name + command.options + line.dropFirst(command.name.count)
    }

    private var commands: [(name: String, options: String)] {
        [
            ("martlet topology apply", ofBroker), ("martlet topology check", ofBroker),
            ("martlet topology print", ofTopologyPrint), ("martlet publish", ofBroker),
            ("martlet pause --fleet", ofBroker), ("martlet resume --fleet", ofBroker), ("martlet probe", ofBroker),
            ("martlet dead-letters redrive", ofBroker), ("martlet dead-letters import", ofBroker),
            ("martlet dead-letters edit", ofBroker), ("martlet dead-letters drop", ofBroker),
            ("martlet dead-letters list", ofBroker),
            ("martlet unrouted replay", ofBroker), ("martlet waits bring-back", ofBroker),
            ("martlet status --fleet", ofBroker),
            ("martlet registrations migrate", ofFile),
            ("martlet worker", ofFile), ("martlet doctor", ofFile),
            ("martlet config check", ofFile.replacing(" --config", with: "")),
        ]
    }
}
