import CommandKit
import Testing

@testable import Configuration
@testable import DeadLetters
@testable import MartletCLI

/// Command lines of `martlet dead-letters`, `martlet unrouted` and `martlet waits`.
@Suite struct MessageQueueCommandTests {
    private func parse(_ words: String...) throws -> DeadLetterOptions { try parse(words) }

    private func parse(_ words: [String]) throws -> DeadLetterOptions {
        guard case .command(let command) = try Program.martlet.request(words) else {
            throw UsageError("\(words) prints a text")
        }
        return try #require(command as? any MessageQueueCommand).options
    }

    @Test func commandsWithTheirOptions() throws {
        #expect(try parse("dead-letters", "stats") == DeadLetterOptions(action: .stats))
        var stats = DeadLetterOptions(action: .stats)
        (stats.groupedBy, stats.filter, stats.isJSON) = ([.age, .schema], "age < 1h", true)
        #expect(try parse("dead", "stats", "--by", "age,schema,age", "--where", "age < 1h", "--json") == stats)
        stats = DeadLetterOptions(action: .stats)
        stats.groupedBy = [.path]
        #expect(try parse("dead", "stats", "--by", "path") == stats)
        var redrive = DeadLetterOptions(action: .redrive)
        (redrive.ids, redrive.limit, redrive.ratePerSecond, redrive.isDryRun) = (["a", "b"], 10, 500, true)
        (redrive.target, redrive.resetsAttempts, redrive.deliveryLimit) = ("q", true, nil)
        redrive.isDeliveryLimitAssumed = false
        #expect(
            try parse(
                "dead", "redrive", "a", "b", "--limit", "10", "--rate", "500/s", "--dry-run", "--to", "q",
                "--reset-attempts", "--delivery-limit", "none") == redrive)
        var drop = DeadLetterOptions(action: .drop)
        (drop.file, drop.saysYes, drop.deliveryLimit, drop.isDeliveryLimitAssumed) = ("f", true, 50, false)
        #expect(try parse("dead", "drop", "--export", "f", "--yes", "--delivery-limit", "50") == drop)
        var importing = DeadLetterOptions(action: .import)
        (importing.file, importing.redrives, importing.target, importing.firstLine) = ("f", true, "q", 7)
        #expect(try parse("dead", "import", "f", "--redrive", "--to", "q", "--from-line", "7") == importing)
    }

    @Test(arguments: [
        (["dead"], "'dead-letters' requires one of: stats, list, show"),
        (["dead", "stat"], "unknown command 'dead-letters stat'; did you mean 'dead-letters stats'?"),
        (
            ["dead", "stats", "--by", "klass"],
            "option --by: expected one or more of class, code, app, schema, path, queue, outcome, age, got"
        ),
        (["dead", "show"], "ID… is missing"),
        (
            ["dead", "redrive", "--rate", "5/m"],
            "option --rate: expected 1 to 1000000 messages per second, such as 500/s, got '5/m'"
        ),
        (
            ["dead", "redrive", "--rate", "0"],
            "option --rate: expected 1 to 1000000 messages per second, such as 500/s, got '0'"
        ),
        (["dead", "redrive", "--limit", "0"], "option --limit: expected a whole number above 0, got '0'"),
        (["dead", "redrive", "--all", "a"], "option --all and an ID are mutually exclusive"),
        (["dead", "redrive", "--all", "--where", "age < 1h"], "option --all and --where are mutually exclusive"),
        (["dead", "drop"], "option --export FILE is missing; name a new file for the dropped dead letters"),
        (["dead", "export", "a", "b"], "expected one FILE, got 2"),
        (["dead", "edit", "a", "b"], "expected one ID, got 2"),
        (["dead", "import", "a", "--to", "q"], "option --to requires --redrive"),
        (["dead", "list", "--delivery-limit", "some"], "option --delivery-limit: expected a whole number"),
    ])
    func mistakes(_ words: [String], _ message: String) throws {
        let error = try #require(throws: UsageError.self) { _ = try Program.martlet.request(words) }
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test(arguments: [
        ([], true), (["--rate", "5/s"], true), (["--to", "q", "--json"], true), (["a"], false), (["--all"], false),
        (["--yes"], false), (["--where", "age < 1h"], false), (["--limit", "5"], false), (["--dry-run"], false),
    ])
    func aRedriveOfEveryDeadLetterNeedsConfirmation(_ words: [String], _ needs: Bool) throws {
        #expect(try parse(["dead", "redrive"] + words).needsConfirmation == needs)
    }

    @Test func helpIsAvailableUnderBothNames() throws {
        let help = try Program.martlet.text(["dead-letters", "redrive", "--help"])
        #expect(try Program.martlet.text(["dead", "redrive", "-h"]) == help)
        #expect(try Program.martlet.text(["help", "dead", "redrive"]) == help)
        for line in help.split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
    }

    /// A recommended command repeats the options of the invocation.
    @Test(arguments: [
        "dead-letters redrive --config a.yaml --where 'age < 2h' --limit 3 --rate 500/s --to push.requests --yes --json",
        "dead-letters redrive --config a.yaml --all --dry-run --reset-attempts --delivery-limit none",
        "dead-letters edit --config a.yaml --delivery-limit 40 00112233445566778899aabbccddeeff",
        "dead-letters import --config a.yaml --from-line 7 --redrive --to q --reset-attempts --json 'a b'",
        "waits bring-back --config a.yaml --rate 5/s --json -- -id",
        "unrouted replay --config a.yaml --where 'code == \"x\"' --yes",
    ])
    func aCommandLineIsPrintedCompletely(_ line: String) throws {
        var words: [String] = []
        for (index, part) in line.split(separator: "'").enumerated() {
            words += index % 2 == 1 ? [String(part)] : part.split(separator: " ").map { String($0) }
        }
        let options = try parse(words)
        #expect(options.command(CommandAdvice(options.broker)) == "martlet \(line)")
    }

    @Test func aDeviceTokenIsShortened() {
        let token = String(repeating: "0a1b", count: 16)
        var options = DeadLetterOptions(action: .edit)
        (options.ids, options.filter) = ([token], "token == \"\(token)\"")
        #expect(!options.command(CommandAdvice(options.broker)).contains(token))
    }
}
