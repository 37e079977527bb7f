import CValgrind
import Glibc
import TestKit

/// A benchmark that counts the instructions of a lane per request with callgrind.
struct Instructions {
    /// The path of the file with the accepted count.
    static let acceptedPath = Products.file("deploy/check/instructions")
    private static let secondsMax = 300

    let options: InstructionOptions

    func run() async throws -> InstructionReport {
        guard martlet_has_callgrind() != 0 else {
            throw ProcessError(
                "cannot count instructions: valgrind's header was missing during the build; "
                    + "run: deploy/lib/install-packages test, then rebuild martlet-bench: deploy/check/simulate 100"
            )
        }
        let count = try await count(options)
        return InstructionReport(
            options: options, count: count,
            reference: options.isAccepted
                ? try InstructionCount(lines: try Files.lines(of: Self.acceptedPath))
                : try await self.count(options.ofOneApp))
    }

    private func count(_ options: InstructionOptions) async throws -> InstructionCount {
        let folder = try TemporaryDirectory("bench")
        let (program, output) = (folder.file("martlet-bench"), folder.file("callgrind.out"))
        // Debian's valgrind cannot read this program's newer format of debug information.
        let strip = ["strip", "--strip-debug", "-o", program, try Products.executable("martlet-bench")]
        let stripped = try await ChildProcess.run(strip)
        guard stripped.exit.status == .exited(0) else {
            throw ProcessError("cannot strip \(program): \(stripped.errors)")
        }
        let run = try await ChildProcess.run(
            [
                "valgrind", "--tool=callgrind", "--collect-atstart=no", "--demangle=no", "--compress-pos=no",
                "--callgrind-out-file=\(output)", program, CountedLaneCommand.name,
            ] + options.arguments, environment: Self.environment, within: .seconds(Self.secondsMax))
        guard run.exit.status == .exited(0) else { throw ProcessError("cannot run valgrind: \(run.errors.suffix(5))") }
        let profile = try CallgrindProfile(lines: try Files.lines(of: output), program: program)
        return InstructionCount(profile, messages: options.pushCount)
    }

    /// An environment in which the order of dictionaries is the same in each run.
    private static var environment: [String: String] {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return ["PATH": path, "LC_ALL": "C", "SWIFT_DETERMINISTIC_HASHING": "1"]
    }

    /// Writes the count to the file with the accepted count.
    static func accept(_ count: InstructionCount) async throws {
        var header = ["# Accepted instructions per request, written by martlet-bench instructions --accept"]
        for command in [
            ["date", "+%F"], ["git", "describe", "--always"], ["swiftc", "--version"], ["valgrind", "--version"],
        ] {
            let run = try await ChildProcess.run(command)
            header.append("# \(run.output.first ?? "?")")
        }
        header.append(
            "# Total: \(count.total); deploy/test fails above \(count.ceiling()) "
                + "(\(InstructionCount.growthPercentMax) % more)")
        let text = (header + count.lines).map { "\($0)\n" }.joined()
        guard let file = fopen(acceptedPath, "w"), fputs(text, file) >= 0, fclose(file) == 0 else {
            throw ProcessError(errno, "cannot write \(acceptedPath)")
        }
    }
}
