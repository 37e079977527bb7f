import TestKit
import Testing

/// `deploy/check/memory-limit`, which limits the memory of the test runner.
@Suite struct MemoryLimitTests {
    private static let limit = "\(Products.file("deploy/check/memory-limit")) 100"
    /// A command that allocates 200 MB.
    private static let large = "python3 -c 'x = bytearray(200_000_000)'"

    private func exitStatus(of script: String) async throws -> ChildExit.Status {
        try await ChildProcess.run(["bash", "-c", script]).exit.status
    }

    @Test func forwardsTheExitStatus() async throws {
        #expect(try await exitStatus(of: "\(Self.limit) true") == .exited(0))
        #expect(try await exitStatus(of: "\(Self.limit) bash -c 'exit 3'") == .exited(3))
        #expect(try await exitStatus(of: "\(Self.limit) bash -c 'kill -KILL $$'") == .exited(128 + 9))
    }

    @Test func countsTheCommandAndItsChildren() async throws {
        #expect(try await exitStatus(of: "\(Self.limit) \(Self.large)") == .exited(1))
        #expect(try await exitStatus(of: "\(Self.limit) bash -c \"\(Self.large); true\"") == .exited(1))
    }

    // `deploy/test` compiles first, and the compiler may need more memory than the tests.
    @Test func doesNotCountEarlierChildrenOfTheCaller() async throws {
        #expect(try await exitStatus(of: "\(Self.large); exec \(Self.limit) true") == .exited(0))
    }
}
