import TestKit
import Testing

extension SystemTests {
    /// Here, not among the unit suites, because a sanitizer's own memory has no room beside such stacks.
    @Suite struct LaneThread {
        @Test func aWorkerThatGetsNoThreadEnds() async throws {
            let stage = try await Stage("threadless")
            try await stage.applyTopology()
            // No machine has room for stacks of a pebibyte.
            let command = "ulimit -s 1099511627776 && exec \"$0\" worker --config \"$1\""
            let result = try await ChildProcess.run([
                "/bin/sh", "-c", command, Products.executable("martlet"), stage.configuration,
            ])
            #expect(result.exit.status == .exited(1))
            #expect(result.errors.contains { $0.contains("no thread can be started") }, "\(result.errors)")
            try await stage.end()
        }
    }
}
