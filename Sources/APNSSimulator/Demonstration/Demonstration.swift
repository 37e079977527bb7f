import APNSProtocol
public import Crypto
import TLS

/// A generated team with one app, one key and one certificate, an authority, and a server certificate. The
/// demonstration replaces everything that a client would otherwise need from Apple.
public struct Demonstration: Sendable {
    public static let teamID = "DEMOTEAM01"
    public static let keyID = "DEMOKEY001"
    public static let bundleID = "com.example.app"
    /// Prefix of unregistered device tokens.
    public static let unregisteredPrefix = "dead"
    /// Prefix of bad device tokens.
    public static let badPrefix = "bad"
    static let dayMilliseconds: Int64 = 86_400_000

    /// The provider's key in the format of Apple's `.p8` files.
    public let providerKeyPEM: String
    public let providerPublicKeyPEM: String
    /// Certificate of the authority that clients must trust.
    public let authorityPEM: String
    let server: IssuedCertificate
    /// The certificate that a provider can present instead of provider tokens.
    let client: IssuedCertificate

    /// Generates a demonstration with new keys.
    ///
    /// - Throws: `CryptoError` with the code `failed` if the system cannot create keys.
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

    /// Names in the server certificate: `localhost` and Apple's host names. Because of Apple's names, an entry in the
    /// hosts file can redirect a client to the simulator.
    static let serverNames =
        ["localhost"]
        + APNSEnvironment.allCases.flatMap { [$0.pushHost, $0.broadcastHost, $0.channelHost] }
        + [APNSEnvironment.sandboxHostAlias]

    /// Returns a state with the demonstration's team.
    ///
    /// - Parameter nowMilliseconds: the current time, since 1970. Unregistered devices became inactive one day earlier.
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

    /// The state of ``state(nowMilliseconds:)`` as a state file that the user can edit.
    var stateFile: String {
        """
        # The state of apns-simulator; see apns-simulator --help.
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

/// The files of a written demonstration.
enum DemonstrationFile: String, CaseIterable {
    case providerKey = "AuthKey_DEMOKEY001.p8"
    case publicKey = "AuthKey_DEMOKEY001.pub.pem"
    case authority = "ca.pem"
    case serverCertificate = "server.pem"
    case serverKey = "server-key.pem"
    case clientCertificate = "client.pem"
    case clientKey = "client-key.pem"
    case state = "state.yaml"

    /// The files of the server's certificate, without the files of the team.
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
