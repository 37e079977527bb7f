import AMQP
import Glibc
import TestKit
import Testing

/// The dead-letter commands on a terminal: prompts, edits and interruptions.
@Suite(.timeLimit(.minutes(10))) struct DeadLetterTerminalTests {
    private static let controlC = "\u{3}"

    /// Runs a command on a terminal. Each `]` ends a line of its output, so that the test can read a prompt, `[y/N]`.
    private func atTerminal(
        _ dead: DeadLetterQueue, _ words: [String]
    ) async throws -> ChildProcess {
        let command = try dead.command(words).map { "'\($0)'" }.joined(separator: " ")
        return try await ChildProcess(
            ["script", "-qec", command, "/dev/null"], input: .pipe, lineEnd: UInt8(ascii: "]"))
    }

    @Test(arguments: [SIGINT, SIGTERM]) func anInterruptionEndsThePromptOfADrop(_ signal: Int32) async throws {
        let dead = try await DeadLetterQueue("asked\(signal)")
        let letters = (0..<12).map { dead.letter($0) }
        try await dead.publish(letters)
        let directory = try TemporaryDirectory()
        let drop = try await atTerminal(dead, ["drop", "--export", directory.file("dropped.ndjson")])
        _ = try await drop.output.line { $0.contains("12 dead letters written to") && $0.hasSuffix("[y/N") }
        if signal == SIGINT {
            try drop.write(line: Self.controlC)
        } else {
            // Signal only the command, which is the only child of `script`.
            try await MartletChild.send(SIGTERM, to: drop)
        }
        let exit = try await drop.exit()
        #expect(exit.status == .exited(signal == SIGINT ? 130 : 143))
        DeadLetterQueue.expect(try await dead.consume(12), are: letters)
    }

    @Test func anEmptyAnswerIsNo() async throws {
        let dead = try await DeadLetterQueue("answered")
        try await dead.publish([dead.letter(0)])
        let directory = try TemporaryDirectory()
        for (answer, status, left) in [("", 1, 1), ("n", 1, 1), ("y", 0, 0)] {
            let drop = try await atTerminal(dead, ["drop", "--export", directory.file("dropped\(answer)")])
            _ = try await drop.output.line { $0.hasSuffix("[y/N") }
            try drop.write(line: "\(answer)\r")
            #expect(try await drop.exit().status == .exited(Int32(status)))
            #expect(try await dead.count() == left)
        }
    }

    /// Without a filter, the operator sees a dry run before any request is published.
    @Test func aRedriveOfEveryDeadLetterAsksAfterADryRun() async throws {
        let dead = try await DeadLetterQueue("redriveasked")
        try await dead.publish([dead.letter(0), dead.letter(1), dead.letter(2, pushType: "alrt")])
        for (answer, status, left) in [("", 1, 3), ("n", 1, 3), ("y", 1, 1)] {
            let redrive = try await atTerminal(dead, ["redrive"])
            let question = try await redrive.output.line { $0.hasSuffix("[y/N") }
            #expect(question.contains("would be redriven 2"), "\(question)")
            #expect(question.contains("Send 2 dead letters of redriveasked.dead as requests?"), "\(question)")
            try redrive.write(line: "\(answer)\r")
            #expect(try await redrive.exit().status == .exited(Int32(status)))
            #expect(try await dead.count() == left)
        }
        // No request could be published, so the command shows no prompt.
        let none = try await atTerminal(dead, ["redrive"])
        #expect(try await none.exit().status == .exited(1))
        #expect(!(await none.output.allLines()).contains { $0.contains("[y/N") })
    }

    @Test func anInterruptionEndsThePromptOfARedrive() async throws {
        let dead = try await DeadLetterQueue("redriveleft")
        try await dead.publish([dead.letter(0)])
        let redrive = try await atTerminal(dead, ["redrive"])
        _ = try await redrive.output.line { $0.hasSuffix("[y/N") }
        try redrive.write(line: Self.controlC)
        #expect(try await redrive.exit().status == .exited(130))
        #expect(try await dead.count() == 1)
    }

    // Foreign text may contain control characters, including those that JSON allows without an escape.
    @Test(arguments: [
        ["stats", "--by", "schema"], ["stats", "--by", "schema", "--json"], ["list"], ["list", "--json"],
    ])
    func controlCharactersAreEscapedOnATerminal(_ words: [String]) async throws {
        let dead = try await DeadLetterQueue("steered" + words.joined().filter(\.isLetter))
        var letter = dead.letter(0, code: "a\u{9B}2Jb")
        letter.type = "x\u{9B}2Jy"
        try await dead.publish([letter])
        let shown = try await atTerminal(dead, words)
        #expect(try await shown.exit().status == .exited(0))
        let text = await shown.output.allLines().joined(separator: "]")
        #expect(text.contains(words.contains("--json") ? #"\u009b2J"# : "\u{FFFD}2J"), "\(text)")
        #expect(!text.unicodeScalars.contains("\u{9B}"))
    }

    /// A line that is printed while the bar is shown replaces the bar.
    @Test func errorLinesReplaceTheProgressBar() async throws {
        let dead = try await DeadLetterQueue("barred")
        try await dead.publish((0..<3).map { dead.letter($0) } + [dead.letter(3, pushType: "alrt")])
        let redrive = try await atTerminal(dead, ["redrive", "--all", "--rate", "2/s"])
        #expect(try await redrive.exit().status == .exited(1))
        let text = await redrive.output.allLines().joined(separator: "]")
        #expect(text.contains("─") && text.contains("\r\u{1B}[Kmartlet: \(DeadLetterQueue.id(3)): "), "\(text)")
    }

    /// The output consists of JSON lines only.
    @Test func noProgressBarAppearsBetweenJSONLines() async throws {
        let dead = try await DeadLetterQueue("unbarred")
        try await dead.publish((0..<2).map { dead.letter($0) })
        let redrive = try await atTerminal(dead, ["redrive", "--all", "--rate", "2/s", "--json"])
        #expect(try await redrive.exit().status == .exited(0))
        let text = await redrive.output.allLines().joined(separator: "]")
        #expect(text.contains(#""redriven":2"#) && !text.contains("─") && !text.contains("\u{1B}"), "\(text)")
    }

    /// A file with a device token is removed after any number of signals, unless the editor has changed it.
    @Test(arguments: [[SIGINT, SIGINT], [SIGTERM], [SIGTERM, SIGTERM], [SIGHUP]], [false, true])
    func theEditedFileIsKeptOnlyIfItWasChanged(_ signals: [Int32], isWritten: Bool) async throws {
        let dead = try await DeadLetterQueue("left\(isWritten)" + signals.map { "\($0)" }.joined(separator: "-"))
        try await dead.publish([dead.letter(0)])
        let (directory, editors) = (try TemporaryDirectory(), try TemporaryDirectory())
        let editor = try editors.write(
            "editor",
            "echo $$ > '\(editors.file("pid"))'; \(isWritten ? "echo mine > \"$1\"; " : "")echo opened; while read -r line < '\(editors.file("end"))'; do break; done"
        )
        try #require(mkfifo(editors.file("end"), 0o600) == 0)
        let edit = try await ChildProcess(
            dead.command(
                ["edit", DeadLetterQueue.id(0)], ["VISUAL": "sh \(editor)", "TMPDIR": directory.path]))
        _ = try await edit.output.line { $0 == "opened" }
        #expect(try Files.names(in: directory.path).count == 1)
        for signal in signals {
            edit.send(signal: signal)
            // Wait until the first signal is handled, so that the second signal is not merged with the first.
            try await MartletChild.untilTaken(signal, by: edit)
        }
        if signals.allSatisfy({ $0 == SIGINT }) {
            #expect(edit.isRunning)
            try editors.end()
        }
        let exit = try await edit.exit()
        // The editor may have outlived the shell that started it. The editor exits when its pipe is opened and closed.
        defer { close(open(editors.file("end"), O_RDWR | O_CLOEXEC)) }
        #expect(exit.status == .exited(signals[0] == SIGINT ? (isWritten ? 1 : 0) : 143))
        let names = try Files.names(in: directory.path)
        #expect(names.count == (isWritten ? 1 : 0))
        if isWritten {
            let file = try #require(names.first)
            _ = try await edit.errors.line { $0 == "martlet: your changes are in \(directory.path)/\(file)" }
        }
        #expect(try await dead.count() == 1)
    }
}

/// Functions that send signals to a `martlet` process or wait until it handles them.
private enum MartletChild {
    static func send(_ signal: Int32, to script: ChildProcess) async throws {
        let children = try await ChildProcess.run(["ps", "--ppid", "\(script.pid)", "-o", "pid="])
        let pid = try #require(children.output.first.flatMap { pid_t($0.filter(\.isNumber)) })
        kill(pid, signal)
    }

    /// Waits until the signal is no longer pending in the process, or until the process has exited.
    static func untilTaken(_ signal: Int32, by process: ChildProcess) async throws {
        for _ in 0..<1000 where process.isRunning {
            let lines = (try? Files.lines(of: "/proc/\(process.pid)/status")) ?? []
            let pending = lines.filter { $0.hasPrefix("ShdPnd:") || $0.hasPrefix("SigPnd:") }
            let masks = pending.compactMap { UInt64($0.split(separator: "\t").last ?? "", radix: 16) }
            if masks.allSatisfy({ $0 >> (signal - 1) & 1 == 0 }) { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        try #require(!process.isRunning)
    }
}

extension TemporaryDirectory {
    /// Lets the editor exit.
    fileprivate func end() throws { try write("end", "\n") }
}
