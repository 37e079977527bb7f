import APNSProtocol
import Registrations
import Testing

@testable import Configuration

/// The environments of registration commands.
@Suite struct CommandEnvironmentsTests {
    private let environments = CommandEnvironments([
        WorkerConfiguration.App(
            bundleID: "com.example.shop", credentials: [.production: [:], .sandbox: [:]], environment: .sandbox),
        WorkerConfiguration.App(
            bundleID: "com.example.mail", credentials: [.production: [:]], environment: .production),
    ])

    @Test func `A command without an environment has the default of its app`() throws {
        #expect(try environments.find("com.example.shop", nil) == .sandbox)
        #expect(try environments.find("com.example.shop", .production) == .production)
        #expect(try environments.find("com.example.mail", nil) == .production)
    }

    @Test func `An app or environment that is not configured is a violation`() throws {
        let unknown = try #require(throws: CommandViolation.self) { try environments.find("com.example.other", nil) }
        #expect(unknown.violationClass == .app && unknown.code == "unknown" && unknown.path == "/app")
        // Sentences reach logs, so this sentence does not quote the app of the command.
        #expect(!unknown.sentence.contains("other"))
        let unserved = try #require(throws: CommandViolation.self) {
            try environments.find("com.example.mail", .sandbox)
        }
        #expect(unserved.code == "environment" && unserved.sentence.contains("sandbox"))
    }
}
