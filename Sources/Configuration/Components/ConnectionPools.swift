package import APNS
package import APNSProtocol
package import Crypto
package import Delivery
package import EventLoop
package import TLS

/// The apps and their connection pools. Each credential has one pool per environment and host.
package struct ConnectionPools {
    package struct Pool {
        package let configuration: PoolConfiguration
        package let endpoint: Endpoint
        /// Whether the pool is only for broadcasts, which have a separate host in this environment.
        package let isForBroadcasts: Bool
        /// The client certificate; nil if the credential is a key.
        let identity: TLSIdentity?
    }

    package let apps: AppDirectory
    package let list: [Pool]
    /// The keys of all pools, without duplicates.
    package let keys: [ProviderKey]

    package init(_ configuration: WorkerConfiguration) throws(CryptoError) {
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

extension WorkerConfiguration.APNs {
    /// Returns the credential with this name, and its client certificate. For a key, the certificate is nil.
    ///
    /// - Throws: if no credential of this name is configured, or a configured key ID or team ID is invalid.
    package func credential(_ name: Credential.Name) throws(CryptoError) -> (Credential, TLSIdentity?) {
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

    package func pool(
        _ credential: Credential, _ environment: APNSEnvironment, _ endpoint: Endpoint
    ) -> PoolConfiguration {
        var pool = PoolConfiguration(
            environment: environment, credential: credential,
            // Omit the default port of the scheme (RFC 9110, section 4.2.2).
            authority: endpoint.port == APNSEnvironment.pushPort ? endpoint.host : endpoint.description)
        if let connectionsMax { pool.connectionsMax = connectionsMax }
        if let requestTimeoutSeconds { pool.requestTimeoutSeconds = requestTimeoutSeconds }
        return pool
    }
}
