import APNSProtocol
public import Crypto
import TLS

/// A team with one app, one key and one certificate, an authority and a server certificate, made up anew: for trying
/// things out without having anything of Apple's.
public struct Demonstration: Sendable {
    public static let teamID = "DEMOTEAM01"
    public static let keyID = "DEMOKEY001"
    public static let bundleID = "com.example.app"
    /// Device tokens that begin with these are unregistered or bad; all others are good.
    public static let unregisteredPrefix = "dead"
    public static let badPrefix = "bad"
    /// How long before the start unregistered devices were found so.
    static let dayMilliseconds: Int64 = 86_400_000

    /// The provider's key, as the `.p8` file that Apple gives out. A secret, were it not a demonstration.
    public let providerKeyPEM: String
    public let providerPublicKeyPEM: String
    /// What clients are to trust.
    public let authorityPEM: String
    let server: IssuedCertificate
    /// What a provider can show instead of signing tokens.
    let client: IssuedCertificate

    /// - Throws: `failed` when the system cannot make keys.
    public static func make() throws(CryptoError) -> Demonstration {
        let key = try ES256PrivateKey.generate()
        let authority = try CertificateAuthority.make(name: "apns-simulator demonstration authority")
        return Demonstration(
            providerKeyPEM: try key.pkcs8PEM(), providerPublicKeyPEM: try key.publicKeyPEM(),
            authorityPEM: authority.certificatePEM,
            server: try authority.issueServer(dnsNames: serverNames, ipAddresses: ["127.0.0.1", "::1"]),
            client: try authority.issueClient(
                name: "Apple Push Services: \(bundleID)", userID: bundleID,
                extensions: PushCertificate.extensions(
                    environments: Set(APNSEnvironment.allCases),
                    topics: [
                        (bundleID, "app"), ("\(bundleID).voip", "voip"), ("\(bundleID).complication", "complication"),
                    ])))
    }

    /// Apple's names, so that an entry in a hosts file is enough to redirect a client, and this machine's.
    static let serverNames =
        ["localhost"]
        + APNSEnvironment.allCases.flatMap { [$0.pushHost, $0.broadcastHost, $0.channelHost] }
        + [APNSEnvironment.sandboxHostAlias]

    /// A world that knows this team.
    ///
    /// - Parameter nowMilliseconds: since 1970; unregistered devices were found so a day before.
    public func state(nowMilliseconds: Int64) throws(CryptoError) -> SimulatorState {
        var state = SimulatorState()
        state.add(
            RegisteredKey(
                id: Self.keyID, teamID: Self.teamID, publicKey: try ES256PublicKey(pem: providerPublicKeyPEM)))
        state.add(try RegisteredCertificate(pem: client.certificatePEM, teamID: Self.teamID))
        state.addApp(bundleID: Self.bundleID, teamID: Self.teamID, allowsBroadcasts: true)
        state.unknownDevices = .active
        state.deviceRules = [
            DeviceRule(
                prefix: Self.unregisteredPrefix,
                condition: .unregistered(sinceMilliseconds: nowMilliseconds - Self.dayMilliseconds)),
            DeviceRule(prefix: Self.badPrefix, condition: .bad),
        ]
        return state
    }

    /// The same world as a state file, to be changed and used again.
    var stateFile: String {
        """
        # What apns-simulator knows of the world; see apns-simulator --help.
        teams:
          - id: \(Self.teamID)
            apps:
              - {bundle_id: \(Self.bundleID), broadcast: true}
            keys:
              - id: \(Self.keyID)
                public_key_file: \(DemonstrationFile.publicKey.rawValue)
            certificates:
              - certificate_file: \(DemonstrationFile.clientCertificate.rawValue)
        device_rules:
          - {prefix: \(Self.unregisteredPrefix), state: unregistered}
          - {prefix: \(Self.badPrefix), state: bad}
        unknown_devices: active

        """
    }
}

/// The files that a demonstration is written to.
enum DemonstrationFile: String, CaseIterable {
    case providerKey = "AuthKey_DEMOKEY001.p8"
    case publicKey = "AuthKey_DEMOKEY001.pub.pem"
    case authority = "ca.pem"
    case serverCertificate = "server.pem"
    case serverKey = "server-key.pem"
    case clientCertificate = "client.pem"
    case clientKey = "client-key.pem"
    case state = "state.yaml"

    /// Those that belong to the server's certificate, not to the team.
    static let ofServer: [DemonstrationFile] = [.authority, .serverCertificate, .serverKey]

    func text(of demonstration: Demonstration) -> String {
        switch self {
        case .providerKey: demonstration.providerKeyPEM
        case .publicKey: demonstration.providerPublicKeyPEM
        case .authority: demonstration.authorityPEM
        case .serverCertificate: demonstration.server.certificatePEM
        case .serverKey: demonstration.server.privateKeyPEM
        case .clientCertificate: demonstration.client.certificatePEM
        case .clientKey: demonstration.client.privateKeyPEM
        case .state: demonstration.stateFile
        }
    }

    var isSecret: Bool {
        switch self {
        case .providerKey, .serverKey, .clientKey: true
        case .publicKey, .authority, .serverCertificate, .clientCertificate, .state: false
        }
    }
}
