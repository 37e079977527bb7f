import Testing

@testable import CommandKit

@Suite struct ArgumentParserTests {
    private func parse(
        _ line: String, of program: Program = .fleet, defaults: [String: OptionDefault] = [:]
    ) throws(UsageError) -> ArgumentParser.Result {
        try ArgumentParser(program: program, defaults: defaults).parse(line.split(separator: " ").map(String.init))
    }

    private func parsed(_ line: String, of program: Program = .fleet) throws -> ParsedArguments {
        guard case .command(let parsed) = try parse(line, of: program) else { throw UsageError("\(line) is a text") }
        return parsed
    }

    @Test func optionsAndOperands() throws {
        var launch = ParsedArguments(command: "launch")
        launch.options = ["map": "m=1", "dry-run": "", "note": "b"]
        launch.lists = ["signal": ["red", "green"]]
        launch.operands = ["a", "-", "--odd"]
        #expect(
            try parsed("launch --map=m=1 a --signal red --dry-run --note a --signal=green --note=b - -- --odd")
                == launch)
        var open = ParsedArguments(command: "harbor open")
        open.operands = ["south"]
        #expect(try parsed("harbor open south") == open && parsed("port open south") == open)
        #expect(try parsed("engine") == ParsedArguments(command: "engine"))
    }

    @Test func aProgramWithOneCommandHasNoCommandName() throws {
        var lamp = ParsedArguments(command: "")
        #expect(try parsed("", of: .seaLamp) == lamp)
        lamp.options = ["mode": "flashing", "place": "b:2"]
        #expect(try parsed("--place a:1 --mode flashing --place b:2", of: .seaLamp) == lamp)
        #expect(throws: UsageError("unexpected argument 'help'")) { try parse("help", of: .seaLamp) }
    }

    @Test(arguments: [
        ("", "no command given"),
        ("lunch", "unknown command 'lunch'; did you mean 'launch'?"),
        ("something", "unknown command 'something'"),
        ("--mpa", "unknown option --mpa"),
        ("--versoin", "unknown option --versoin; did you mean --version?"),
        ("--completion zsh", "unknown option --completion"),
        ("launch a", "option --map FILE is missing"),
        ("launch --map", "option --map FILE needs a value"),
        ("launch --map=", "option --map FILE needs a value"),
        ("launch --map --dry-run a", "option --map FILE needs a value"),
        ("launch --mpa m a", "unknown option --mpa; did you mean --map?"),
        ("launch --hepl", "unknown option --hepl; did you mean --help?"),
        ("launch --engine-nubmer 1", "unknown option --engine-nubmer"),
        ("launch --map m --map n a", "option --map is given twice"),
        ("launch -m a", "unknown option -m"),
        ("launch --dry-run=1 a", "option --dry-run accepts no value"),
        ("launch --map m", "BOAT… is missing"),
        ("launch --map m --signal gren a", "option --signal: expected red or green, got 'gren'; did you mean green?"),
        ("harbor", "'harbor' requires one of: list, open"),
        ("port --map m", "'harbor' requires one of: list, open"),
        ("harbor opne", "unknown command 'harbor opne'; did you mean 'harbor open'?"),
        ("harbor destroy", "unknown command 'harbor destroy'; 'harbor' requires one of: list, open"),
        ("harbor list north", "unexpected argument 'north'"),
        ("harbor open", "SIDE is missing: north or south"),
        ("harbor open nort", "fleet harbor open: expected north or south, got 'nort'; did you mean north?"),
        ("harbor open north south", "unexpected argument 'south'"),
        ("engin", "unknown command 'engin'"),
    ])
    func mistakes(_ line: String, _ message: String) {
        let error = #expect(throws: UsageError.self) { try parse(line) }
        #expect(error?.message == message)
    }

    @Test(arguments: [
        ("sandbox", "unexpected argument 'sandbox'"),
        ("--mod steady", "unknown option --mod; did you mean --mode?"),
        ("--mode", "option --mode MODE needs a value"),
        ("--mode flash", "option --mode: expected steady or flashing, got 'flash'; did you mean flashing?"),
        ("--help=yes", "option --help accepts no value"),
        ("--completion", "option --completion SHELL needs a value"),
        ("--completion fish", "option --completion: expected bash or zsh, got 'fish'"),
    ])
    func mistakesOfAProgramWithOneCommand(_ line: String, _ message: String) {
        let error = #expect(throws: UsageError.self) { try parse(line, of: .seaLamp) }
        #expect(error?.message == message)
    }

    // The error refers to the help of the command.
    @Test func aMistakeNamesItsCommand() {
        func command(_ line: String) -> String? {
            #expect(throws: UsageError.self) { try Program.fleet.request(line.split(separator: " ").map(String.init)) }?
                .command
        }
        #expect(command("lunch") == "")
        #expect(command("harbor open") == "harbor open")
        #expect(command("launch --map m --crew 10 a") == "launch")
    }

    @Test func helpAndVersionTakePrecedenceOverMistakes() throws {
        #expect(try parse("launch --nonsense --help") == .help(topic: "launch"))
        #expect(try parse("launch -h") == .help(topic: "launch") && parse("help launch") == .help(topic: "launch"))
        #expect(try parse("harbor --help") == .help(topic: "harbor") && parse("help port") == .help(topic: "harbor"))
        #expect(try parse("help") == .help(topic: "") && parse("help nonsense") == .help(topic: ""))
        #expect(try parse("launch --version") == .version)
        #expect(try parsed("launch --map m -- --help").operands == ["--help"])
        #expect(try parse("-h", of: .seaLamp) == .help(topic: ""))
    }

    @Test func documentsAreOptionsIfTheProgramEnablesThem() throws {
        #expect(try parse("--manual", of: .seaLamp) == .manual(command: ""))
        #expect(try parse("--completion=bash", of: .seaLamp) == .completion(.bash))
        #expect(try parse("--mode steady --completion zsh", of: .seaLamp) == .completion(.zsh))
        var program = Program.fleet
        program.hasDocumentOptions = true
        #expect(try parse("harbor open --manual", of: program) == .manual(command: "harbor open"))
        #expect(try parse("--manual", of: program) == .manual(command: ""))
        #expect(try parse("--completion zsh", of: program) == .completion(.zsh))
        #expect(throws: UsageError("unknown option --dry-run")) { try parse("--dry-run launch", of: program) }
    }

    @Test func aDefaultReplacesAMissingOption() throws {
        let defaults = ["map": OptionDefault.value("d")]
        func map(_ line: String) throws -> String? {
            guard case .command(let parsed) = try parse(line, defaults: defaults) else { return nil }
            return parsed.options["map"]
        }
        #expect(try map("launch a") == "d" && map("launch --map m a") == "m")
        #expect(throws: UsageError.self) { try map("launch --pilot p a") }
        #expect(try map("harbor list") == "d" && map("log") == nil)
    }

    @Test func anUnreadableDefaultIsAMistakeUnlessTheOptionIsAdvisory() throws {
        let defaults = ["map": OptionDefault.unreadable(problem: "cannot read d", remedy: "name another file")]
        let error = #expect(throws: UsageError.self) { try parse("launch a", defaults: defaults) }
        #expect(error?.message == "cannot read d; name another file")
        guard case .command(let parsed) = try parse("harbor list", defaults: defaults) else {
            throw UsageError("unexpected text")
        }
        #expect(parsed.unreadableDefaults == ["map": "cannot read d"] && !parsed.has("map"))
        #expect(throws: Never.self) { try parse("log", defaults: defaults) }
    }
}
