import Testing

@testable import Operations

@Suite struct DeadLetterInvocationTests {
    private func parse(_ words: String...) throws -> DeadLetterOptions {
        guard case .deadLetters(let options) = try Invocation.parse(words) else {
            throw UsageError(message: "another command")
        }
        return options
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
        (["dead"], "'dead-letters' is followed by one of: stats, list, show"),
        (["dead", "stat"], "unknown command 'dead-letters stat'; did you mean 'dead-letters stats'?"),
        (
            ["dead", "stats", "--by", "klass"],
            "option --by takes some of class, code, app, schema, path, queue, outcome, age, not"
        ),
        (["dead", "show"], "ID… is missing"),
        (["dead", "redrive", "--rate", "5/m"], "option --rate takes messages a second, as in 500/s, not '5/m'"),
        (["dead", "redrive", "--rate", "0"], "option --rate takes messages a second, as in 500/s, not '0'"),
        (["dead", "redrive", "--limit", "0"], "option --limit takes a whole number above 0, not '0'"),
        (["dead", "redrive", "--all", "a"], "option --all does not go with an ID"),
        (["dead", "redrive", "--all", "--where", "age < 1h"], "option --all does not go with --where"),
        (["dead", "drop"], "nothing is dropped without --export FILE, by which it can be brought back"),
        (["dead", "export", "a", "b"], "there is one FILE, not 2"),
        (["dead", "edit", "a", "b"], "one dead letter is edited at a time"),
        (["dead", "import", "a", "--to", "q"], "option --to goes with --redrive"),
        (["dead", "list", "--delivery-limit", "some"], "option --delivery-limit takes a whole number"),
    ])
    func mistakes(_ words: [String], _ message: String) throws {
        let error = try #require(throws: UsageError.self) { try Invocation.parse(words) }
        #expect(error.message.hasPrefix(message), "\(error.message)")
    }

    @Test(arguments: [
        ([], true), (["--rate", "5/s"], true), (["--to", "q", "--json"], true), (["a"], false), (["--all"], false),
        (["--yes"], false), (["--where", "age < 1h"], false), (["--limit", "5"], false), (["--dry-run"], false),
    ])
    func aRedriveOfEveryDeadLetterNeedsConfirmation(_ words: [String], _ needs: Bool) throws {
        guard case .deadLetters(let options) = try Invocation.parse(["dead", "redrive"] + words) else {
            throw UsageError(message: "another command")
        }
        #expect(options.needsConfirmation == needs)
    }

    @Test func helpIsThereUnderBothNames() throws {
        let help = try Invocation.parse(["dead-letters", "redrive", "--help"])
        #expect(try Invocation.parse(["dead", "redrive", "-h"]) == help)
        #expect(try Invocation.parse(["help", "dead", "redrive"]) == help)
        guard case .help(let text) = help else { throw UsageError(message: "no help") }
        for line in text.split(separator: "\n") { #expect(line.count <= 130, "\(line)") }
    }
}
