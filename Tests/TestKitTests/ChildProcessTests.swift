import Glibc
import Testing

@testable import TestKit

@Suite struct ChildProcessTests {
    @Test func `returns lines and the exit status`() async throws {
        let (exit, output, errors) = try await ChildProcess.run([
            "sh", "-c", "echo one; echo two >&2; printf three; exit 7",
        ])
        #expect(exit.status == .exited(7))
        #expect(output == ["one", "three"])
        #expect(errors == ["two"])
    }

    @Test func `exchanges lines with a child`() async throws {
        let child = try await ChildProcess(["cat"], input: .pipe)
        try child.write(line: "first")
        #expect(try await child.output.line() == "first")
        try child.write(line: "second")
        try child.write(line: "third")
        #expect(try await child.output.line { $0.hasPrefix("th") } == "third")
        child.closeInput()
        #expect(try await child.exit().status == .exited(0))
        #expect(throws: ProcessError.self) { try child.write(line: "too late") }
    }

    @Test func `returns the signal that ended a child`() async throws {
        let child = try await ChildProcess(["sleep", "1000"])
        #expect(child.isRunning)
        #expect(try await child.terminate().status == .signalled(SIGTERM))
        #expect(!child.isRunning)
    }

    @Test func `kills a child that does not exit in time`() async throws {
        let child = try await ChildProcess(["sh", "-c", "trap '' TERM; echo up; while true; do sleep 1; done"])
        _ = try await child.output.line()
        await #expect(throws: ProcessError.self) { try await child.terminate(within: .milliseconds(50)) }
        #expect(try await child.exit().status == .signalled(SIGKILL))
    }

    @Test func `reports a missing line`() async throws {
        let child = try await ChildProcess(["echo", "something else"])
        let error = await #expect(throws: ProcessError.self) { try await child.output.line { $0 == "ready" } }
        #expect(error?.description.contains("something else") == true)
    }

    @Test func `reports an unknown command`() async throws {
        let (exit, _, errors) = try await ChildProcess.run(["/nowhere/at-all"])
        #expect(exit.status == .exited(127))
        #expect(errors.joined().contains("/nowhere/at-all"))
    }

    // A child that starts while a file is being written inherits its descriptor until it calls exec.
    @Test func `executes a new program while other children start`() async throws {
        let directory = try TemporaryDirectory()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<25 {
                        let program = try await directory.writeProgram("\(worker)-\(round)", "#!/bin/sh\nexit 3\n")
                        let result = try await ChildProcess.run([program])
                        #expect(result.exit.status == .exited(3), "\(result.errors)")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func `measures a running child`() async throws {
        let child = try await ChildProcess(
            ["sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; cat"], input: .pipe)
        _ = try await child.output.line()
        #expect(child.processorTime > .zero)
        #expect((100_000..<20_000_000).contains(child.peakResidentBytes))
        child.closeInput()
        let exit = try await child.exit()
        #expect(child.processorTime == exit.usage.userTime + exit.usage.systemTime)
    }
}

@Suite struct TemporaryDirectoryTests {
    @Test func `deletes its folder and contents`() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory?.path)
        #expect(mkdir("\(path)/below", 0o755) == 0)
        try directory?.write("below/file", "text")
        #expect(access("\(path)/below/file", F_OK) == 0)
        directory = nil
        #expect(access(path, F_OK) == -1)
    }
}

@Suite struct FreePortTests {
    @Test func `chooses ports outside of the ephemeral range`() throws {
        #expect(try (10240..<30720).contains(FreePort.choose()))
    }
}
