import APNSProtocol
import Configuration
import Registrations

/// The APNs environments of registration commands, from the configured apps.
struct CommandEnvironments: Sendable {
    private let apps: [String: WorkerConfiguration.App]

    init(_ apps: [WorkerConfiguration.App]) {
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    }

    /// Returns the environment that a command names, or the default environment of its app.
    ///
    /// - Throws: A violation of the class `app` if the app is not configured, or has no credential for the environment.
    func find(_ bundleID: String, _ named: APNSEnvironment?) throws(CommandViolation) -> APNSEnvironment {
        guard let app = apps[bundleID] else {
            throw CommandViolation(
                .app, "unknown", path: "/app",
                "The app is not configured here: correct app, or add the app to apps in the configuration.")
        }
        let environment = named ?? app.environment
        guard app.credentials[environment] != nil else {
            throw CommandViolation(
                .app, "environment", path: "/environment",
                "No key or certificate is configured for the app in \(environment.rawValue): "
                    + "correct environment, or add a key or certificate to the configuration.")
        }
        return environment
    }
}
