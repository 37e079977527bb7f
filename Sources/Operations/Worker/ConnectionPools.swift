import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop

/// The apps, and the connection pools that serve them: one for each key and environment that it serves.
struct ConnectionPools {
    let apps: AppDirectory
    private(set) var list: [PoolConfiguration] = []

    init(_ configuration: Configuration) throws(CryptoError) {
        var numbers: [String: [APNSEnvironment: Int]] = [:]
        for key in configuration.apns.keys {
            for environment in key.environments {
                numbers[key.keyID, default: [:]][environment] = list.count
                list.append(try Self.pool(key, environment, configuration.apns))
            }
        }
        apps = AppDirectory(
            configuration.apps.map { app in
                AppDirectory.App(
                    bundleID: app.bundleID, defaultEnvironment: app.environment,
                    productionPool: numbers[app.keyID]?[.production], sandboxPool: numbers[app.keyID]?[.sandbox])
            })
    }

    private static func pool(
        _ key: Configuration.APNs.Key, _ environment: APNSEnvironment, _ apns: Configuration.APNs
    ) throws(CryptoError) -> PoolConfiguration {
        let endpoint = apns.server(of: environment).endpoint
        var pool = PoolConfiguration(
            environment: environment,
            key: try ProviderKey(privateKey: key.privateKey, keyID: key.keyID, teamID: key.teamID),
            // The port is left out where it is the scheme's own (RFC 9110, section 4.2.2).
            authority: endpoint.port == APNSEnvironment.pushPort ? endpoint.host : endpoint.description)
        pool.connectionsMax = apns.connectionsMax
        pool.requestTimeoutSeconds = Int64(apns.requestTimeoutSeconds)
        return pool
    }
}
