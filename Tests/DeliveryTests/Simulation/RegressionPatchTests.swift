import TestKit
import Testing

/// The patches that `deploy/check/regressions` applies. Each patch must fit the current sources.
@Suite struct RegressionPatchTests {
    @Test func everyPatchApplies() async throws {
        let folder = Products.file("Tests/DeliveryTests/Simulation/Regressions")
        let names = try Files.names(in: folder)
        #expect(!names.isEmpty)
        for name in names {
            let (exit, output, _) = try await ChildProcess.run([
                "patch", "--dry-run", "--batch", "--fuzz", "0", "--strip", "1", "--directory", Products.file(""),
                "--input", "\(folder)/\(name)",
            ])
            #expect(exit.status == .exited(0), "\(name): \(output)")
        }
    }
}
