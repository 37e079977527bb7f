import APNS
import APNSProtocol
import Crypto
import Delivery
import EventLoop
import TLS

/// The apps and their connection pools. Each credential has a pool for each of its environments and each host there.
struct ConnectionPools {
    struct Pool {
        let configuration: PoolConfiguration
        let endpoint: Endpoint
        /// Broadcasts have a separate host in this environment.
        let isForBroadcasts: Bool
        /// The client certificate. nil: the credential is a key.
        let identity: TLSIdentity?
    }

    let apps: AppDirectory
    let list: [Pool]
    /// The keys of all pools, without duplicates.
    let keys: [ProviderKey]

    init(_ configuration: Configuration) throws(CryptoError) {
        var numbers: [Credential.Name: [APNSEnvironment: AppDirectory.Pools]] = [:]
        var list: [Pool] = []
        var keys: [ProviderKey] = []
        for (credential, environments, identity) in try configuration.apns.credentials() {
            if case .key(let key) = credential { keys.append(key) }
            for environment in environments {
                let server = configuration.apns.server(of: environment)
                func add(_ endpoint: Endpoint, isForBroadcasts: Bool = false) -> Int {
                    list.append(
                        Pool(
                            configuration: configuration.apns.pool(credential, environment, endpoint),
                            endpoint: endpoint, isForBroadcasts: isForBroadcasts, identity: identity))
                    return list.count - 1
                }
                let device = add(server.endpoint)
                let broadcast = server.broadcastEndpoint.map { add($0, isForBroadcasts: true) } ?? device
                numbers[credential.name, default: [:]][environment] = .init(device: device, broadcast: broadcast)
            }
        }
        self.list = list
        self.keys = keys
        apps = AppDirectory(
            configuration.apps.map { app in
                AppDirectory.App(app, limits: configuration.limits(of: app)) { credential, environment, kind in
                    numbers[credential]?[environment]?[kind]
                }
            })
    }
}

extension Configuration.APNs {
    /// - Throws: if no credential of this name is configured, or its key or certificate is invalid.
    func credential(_ name: Credential.Name) throws(CryptoError) -> (Credential, TLSIdentity?) {
        for (credential, _, identity) in try credentials() where credential.name == name {
            return (credential, identity)
        }
        throw CryptoError(.invalidArgument, "\(name) is not configured")
    }

    fileprivate func credentials() throws(CryptoError) -> [(Credential, [APNSEnvironment], TLSIdentity?)] {
        var credentials: [(Credential, [APNSEnvironment], TLSIdentity?)] = []
        for key in keys {
            let signer = try ProviderKey(privateKey: key.privateKey, keyID: key.keyID, teamID: key.teamID)
            credentials.append((.key(signer), key.environments, nil))
        }
        for certificate in certificates {
            let environments = APNSEnvironment.allCases.filter { certificate.contents.environments.contains($0) }
            credentials.append((.certificate(certificate.name), environments, certificate.identity))
        }
        return credentials
    }

    func pool(
        _ credential: Credential, _ environment: APNSEnvironment, _ endpoint: Endpoint
    ) -> PoolConfiguration {
        var pool = PoolConfiguration(
            environment: environment, credential: credential,
            // RFC 9110, section 4.2.2: the default port of the scheme is omitted.
            authority: endpoint.port == APNSEnvironment.pushPort ? endpoint.host : endpoint.description)
        if let connectionsMax { pool.connectionsMax = connectionsMax }
        if let requestTimeoutSeconds { pool.requestTimeoutSeconds = requestTimeoutSeconds }
        return pool
    }
}
