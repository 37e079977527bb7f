import APNS
import APNSProtocol
import Delivery

extension AppDirectory.App {
    /// - Parameter pool: the number of the connection pool for a credential, an environment and a kind; nil: there is none.
    init(
        _ app: Configuration.App, limits: PushLimits = PushLimits(),
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

    /// An app that no connection pool serves yet: only whether there is a credential counts.
    init(_ app: Configuration.App) { self.init(app) { _, _, _ in 0 } }
}
