import CommandKit

extension Program {
    /// A program with several commands, some of two words, and commands for its documents.
    static let fleet = Program(
        name: "fleet", version: "1.2.3", summary: "moves boats between harbors.",
        introduction: "Fleet moves boats between harbors.\n\nBegin with one boat.",
        commands: [
            LaunchCommand.self, HarborListCommand.self, HarborOpenCommand.self, LogCommand.self, ManualCommand.self,
            EngineCommand.self,
        ],
        abbreviations: ["port": "harbor"],
        environment: [("FLEET_MAP", "map of commands without --map")],
        exitCodes: [(.success, "all boats have arrived"), (.failed, "a boat is lost"), (.usage, "wrong command line")])

    /// A program with one command, and options for its documents.
    static let seaLamp = Program(
        name: "sea-lamp", version: "4.5", summary: "a lamp that warns ships", commands: [LampCommand.self],
        exitCodes: [(.success, "turned off"), (ExitCode(rawValue: 64), "wrong command line")],
        usageCode: ExitCode(rawValue: 64), hasDocumentOptions: true)
}

struct LaunchCommand: Command {
    static let syntax = CommandSyntax(
        path: ["launch"],
        summary: "Send boats, each with its own crew, to a harbor that is open, and wait until all of them arrive.",
        discussion: """
            A boat without a map stays where it is; it's "safe" there.
            With --dry-run nothing moves.

            by day:    a flag
            by night:  a light
            """,
        operands: "BOAT…", operandValues: .text,
        options: [
            OptionSyntax(name: "map", value: "FILE", help: "the map; default $FLEET_MAP", isRequired: true),
            OptionSyntax(name: "pilot", value: "HOST:PORT", help: "a pilot, without --map", replacedDefault: "map"),
            OptionSyntax(name: "crew", value: "N", help: "sailors [on each boat]; default 3"),
            OptionSyntax(
                name: "signal", value: "COLOR", help: "red or green; several are allowed", repetition: .list,
                values: .words(["red", "green"])),
            OptionSyntax(name: "dry-run", help: "only print the boats"),
            OptionSyntax(name: "note", value: "TEXT", help: "the last one counts", repetition: .lastCounts),
            OptionSyntax(name: "engine-number", value: "N", help: "of tests", isHidden: true),
        ])

    let boats: [String]
    let crew: Int

    init(_ parsed: ParsedArguments) throws(UsageError) {
        boats = parsed.operands
        crew = try parsed.integer("crew", upTo: 9) ?? 3
    }

    func run() -> ExitCode { boats.count > 1 ? .failed : .success }
}

struct HarborListCommand: Command {
    static let syntax = CommandSyntax(
        path: ["harbor", "list"], summary: "List harbors.",
        options: [OptionSyntax(name: "map", value: "FILE", help: "the map", isAdvisory: true)])

    let unreadableMap: String?

    init(_ parsed: ParsedArguments) { unreadableMap = parsed.unreadableDefaults["map"] }

    func run() -> ExitCode { .success }
}

struct HarborOpenCommand: Command {
    static let syntax = CommandSyntax(
        path: ["harbor", "open"], summary: "Open a harbor.", operands: "SIDE",
        operandValues: .words(["north", "south"]))

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode { .success }
}

struct LogCommand: Command {
    static let syntax = CommandSyntax(path: ["log"], summary: "Print logs.", operands: "[FILE…]")

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode { .success }
}

struct ManualCommand: Command {
    static let syntax = CommandSyntax(
        path: ["man"], summary: "Print a manual page.", operands: "[COMMAND]", operandValues: .commands)

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode { .success }
}

/// A command that only the program itself runs.
struct EngineCommand: Command {
    static let syntax = CommandSyntax(path: ["engine"], summary: "Run an engine.", isHidden: true)

    init(_ parsed: ParsedArguments) {}

    func run() -> ExitCode { .success }
}

struct LampCommand: Command {
    enum Mode: String, CaseIterable {
        case steady, flashing
    }

    static let syntax = CommandSyntax(
        path: [], summary: "A lamp that warns ships: it is lit at dusk and turned off at dawn.",
        discussion: """
            Defaults are in parentheses.

              sea-lamp --folder logs
              sea-lamp --mode flashing
            """,
        sections: [
            OptionSection(
                "Location",
                [
                    OptionSyntax(
                        name: "place", value: "HOST:PORT", help: "the rock (127.0.0.1:7)", repetition: .lastCounts),
                    OptionSyntax(name: "place-of-the-second-lamp", value: "HOST:PORT", help: "the other rock (none)"),
                    OptionSyntax(name: "folder", value: "DIR", help: "write logs there", values: .folders),
                    OptionSyntax(name: "chart", value: "FILE", help: "a chart of the sea"),
                ]),
            OptionSection(
                "About itself",
                [OptionSyntax(name: "mode", value: "MODE", help: "of light", values: .cases(of: Mode.self))]
            ),
        ])

    let mode: Mode?
    let place: String?

    init(_ parsed: ParsedArguments) {
        mode = parsed.word("mode")
        place = parsed.options["place"]
    }

    func run() -> ExitCode { .success }
}
