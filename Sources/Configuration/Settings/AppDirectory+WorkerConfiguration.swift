package import APNS
package import APNSProtocol
package import Delivery

extension AppDirectory.App {
    /// Creates an app with its connection pools.
    ///
    /// - Parameter pool: returns the number of the connection pool for a credential, environment and kind; nil if no
    ///   pool exists.
    package init(
        _ app: WorkerConfiguration.App, limits: PushLimits = PushLimits(),
        pool: (Credential.Name, APNSEnvironment, AppDirectory.Kind) -> Int?
    ) {
        func pools(in environment: APNSEnvironment) -> AppDirectory.Pools? {
            guard let chosen = app.credentials[environment] else { return nil }
            return AppDirectory.Pools { kind in chosen[kind].flatMap { pool($0, environment, kind) } }
        }
        self.init(
            bundleID: app.bundleID, defaultEnvironment: app.environment, production: pools(in: .production),
            sandbox: pools(in: .sandbox), limits: limits)
    }

    /// Creates an app with placeholders for pools, for code that only checks whether a credential exists.
    package init(_ app: WorkerConfiguration.App) { self.init(app) { _, _, _ in 0 } }
}
