import TestKit
import Testing

@Suite struct PollTests {
    @Test func aCheckIsRepeatedUntilItSucceeds() async throws {
        var checks = 0
        try await poll(until: "three checks", every: .zero) {
            checks += 1
            return checks == 3
        }
        #expect(checks == 3)
    }

    @Test func aTimeoutNamesTheCondition() async throws {
        let error = await #expect(throws: ProcessError.self) {
            try await poll(until: "never", within: .zero) { false }
        }
        #expect(error?.description == "condition not true within 0.0 seconds: never")
    }
}
