package import APNSProtocol
import Delivery
package import Registrations

/// The APNs environments of registration commands, from the configured apps.
package struct CommandEnvironments: Sendable {
    private let apps: [String: AppDirectory.App]

    package init(_ apps: [WorkerConfiguration.App]) { self.init(apps.map { AppDirectory.App($0) }) }

    init(_ apps: [AppDirectory.App]) {
        self.apps = Dictionary(apps.map { ($0.bundleID, $0) }) { first, _ in first }
    }

    /// Returns the environment that a command names, or the default environment of its app.
    ///
    /// - Throws: A violation of the class `app` if the app is not configured, or has no credential for the environment.
    package func find(
        _ bundleID: String, _ named: APNSEnvironment?
    ) throws(CommandViolation) -> APNSEnvironment {
        guard let app = apps[bundleID] else {
            throw CommandViolation(
                .app, "unknown", path: "/app",
                "The app is not configured here: correct the member app, or add the app under apps in the "
                    + "configuration.")
        }
        let environment = named ?? app.defaultEnvironment
        let isServed =
            switch environment {
            case .production: app.production != nil
            case .sandbox: app.sandbox != nil
            }
        guard isServed else {
            throw CommandViolation(
                .app, "environment", path: "/environment",
                "No key or certificate is configured for the app in \(environment.rawValue): "
                    + "correct environment, or add a key or certificate to the configuration.")
        }
        return environment
    }
}
