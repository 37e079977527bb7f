import TestKit
import Testing

/// Whether `deploy/check/regressions` can put them back.
@Suite struct RegressionPatchTests {
    @Test func everyPatchFitsTheSources() async throws {
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
