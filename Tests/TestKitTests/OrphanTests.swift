import Glibc
import Testing

@testable import TestKit

/// What becomes of child processes when the runner of the tests crashes.
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
        // Nobody tells the end of a process that is not our child: so it is looked for, for as long as the suite may take.
        while kill(pid, 0) == 0 || access(String(words[1]), F_OK) == 0 { try await Task.sleep(for: .milliseconds(10)) }
    }
}
