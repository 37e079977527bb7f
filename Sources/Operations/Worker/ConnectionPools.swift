import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop

/// The apps, and the connection pools that serve them: one for each key, environment that it serves, and host there.
struct ConnectionPools {
    struct Pool {
        let configuration: PoolConfiguration
        let endpoint: Endpoint
        /// At a host of their own.
        let isForBroadcasts: Bool
    }

    let apps: AppDirectory
    let list: [Pool]

    init(_ configuration: Configuration) throws(CryptoError) {
        var numbers: [String: [APNSEnvironment: AppDirectory.Pools]] = [:]
        var list: [Pool] = []
        for key in configuration.apns.keys {
            for environment in key.environments {
                let server = configuration.apns.server(of: environment)
                var pools = AppDirectory.Pools(list.count)
                list.append(try Pool(key, environment, server.endpoint, configuration.apns))
                if let endpoint = server.broadcastEndpoint {
                    pools.broadcast = list.count
                    list.append(try Pool(key, environment, endpoint, configuration.apns, isForBroadcasts: true))
                }
                numbers[key.keyID, default: [:]][environment] = pools
            }
        }
        self.list = list
        apps = AppDirectory(
            configuration.apps.map { app in
                AppDirectory.App(
                    bundleID: app.bundleID, defaultEnvironment: app.environment,
                    production: numbers[app.keyID]?[.production], sandbox: numbers[app.keyID]?[.sandbox])
            })
    }
}

extension ConnectionPools.Pool {
    fileprivate init(
        _ key: Configuration.APNs.Key, _ environment: APNSEnvironment, _ endpoint: Endpoint,
        _ apns: Configuration.APNs, isForBroadcasts: Bool = false
    ) throws(CryptoError) {
        var pool = PoolConfiguration(
            environment: environment,
            key: try ProviderKey(privateKey: key.privateKey, keyID: key.keyID, teamID: key.teamID),
            // The port is left out where it is the scheme's own (RFC 9110, section 4.2.2).
            authority: endpoint.port == APNSEnvironment.pushPort ? endpoint.host : endpoint.description)
        pool.connectionsMax = apns.connectionsMax
        pool.requestTimeoutSeconds = Int64(apns.requestTimeoutSeconds)
        self.init(configuration: pool, endpoint: endpoint, isForBroadcasts: isForBroadcasts)
    }
}
