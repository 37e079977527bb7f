import Glibc
import Testing

@testable import TestKit

/// The end of child processes after a crash of the test runner.
@Suite(.timeLimit(.minutes(10))) struct OrphanTests {
    @Test func `no child outlives the process that started it`() async throws {
        let result = await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
            let child = try await ChildProcess(["sleep", "1000"])
            let broker = try await PrivateBroker()
            print("\n\(child.pid) \(broker.directory)\n")
            fflush(nil)
            kill(getpid(), SIGKILL)
        }
        let output = String(decoding: try #require(result).standardOutputContent, as: UTF8.self)
        let words = try #require(output.split(separator: "\n").first { $0.contains("martlet-broker") }).split(
            separator: " ")
        let pid = try #require(pid_t(words[0]))
        // The exit of a process that is not a child sends no notification. Poll until the time limit of the suite.
        while kill(pid, 0) == 0 || access(String(words[1]), F_OK) == 0 { try await Task.sleep(for: .milliseconds(10)) }
    }
}
