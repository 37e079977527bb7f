import TestKit
import Testing

extension ToolTests {
    /// What `deploy` gives to Kubernetes and Compose is what they take.
    @Suite struct Manifests {
        @Test func everyObjectIsValid() async throws {
            let result = try await ChildProcess.run([Products.file("deploy/check-manifests")], within: .seconds(280))
            #expect(result.exit.status == .exited(0), "\((result.output + result.errors).joined(separator: "\n"))")
        }
    }
}
