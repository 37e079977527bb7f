import APNSProtocol
import Crypto
import JSON

// The JSON members of teams, apps, keys and certificates. Apps, keys and certificates are members of their team.

/// One team of a state. Reading a team adds its apps, keys and certificates to the state.
struct StateTeam: Sendable {
    var state: SimulatorState
    var id = ""
}

struct AppMembers: Sendable {
    var bundleID = ""
    var allowsBroadcasts = false

    init(bundleID: String = "", allowsBroadcasts: Bool = false) {
        (self.bundleID, self.allowsBroadcasts) = (bundleID, allowsBroadcasts)
    }

    init(_ app: SimulatorState.App) {
        self.init(bundleID: app.bundleID, allowsBroadcasts: app.allowsBroadcasts)
    }
}

struct KeyMembers: Sendable {
    var id: String
    var publicKeyPEM: String?
    var environments = Set(APNSEnvironment.allCases)
    /// The bundle IDs that the key is limited to; nil for all topics of the team.
    var topics: Set<String>?
    var relatedKeyID: String?
    var isRevoked = false

    init(id: String = "") {
        self.id = id
    }

    init(_ key: RegisteredKey) {
        id = key.id
        publicKeyPEM = key.publicKey.pem
        environments = key.environments
        if case .topics(let bundleIDs, let relatedKeyID) = key.scope {
            (topics, self.relatedKeyID) = (bundleIDs, relatedKeyID)
        }
        isRevoked = key.isRevoked
    }

    func key(teamID: String) throws(InputError) -> RegisteredKey {
        guard let publicKeyPEM else { throw InputError("a key requires public_key or public_key_file") }
        do throws(CryptoError) {
            var key = RegisteredKey(
                id: id, teamID: teamID, publicKey: try ES256PublicKey(pem: Array(publicKeyPEM.utf8)),
                environments: environments, scope: topics.map { .topics($0, relatedKeyID: relatedKeyID) } ?? .team)
            key.isRevoked = isRevoked
            return key
        } catch {
            throw InputError("\(error)")
        }
    }
}

struct CertificateMembers: Sendable {
    var pem: String?
    var isRevoked = false

    init() {}

    init(_ certificate: RegisteredCertificate) {
        (pem, isRevoked) = (certificate.pem, certificate.isRevoked)
    }

    func certificate(teamID: String) throws(InputError) -> RegisteredCertificate {
        guard let pem else { throw InputError("a certificate requires certificate or certificate_file") }
        do throws(CryptoError) {
            var certificate = try RegisteredCertificate(pem: pem, teamID: teamID)
            certificate.isRevoked = isRevoked
            return certificate
        } catch {
            throw InputError("\(error)")
        }
    }
}

/// A PEM text, or the path of its file.
struct PEMMembers: Sendable {
    var text: String?
    var path: String?
}

extension ValueCodec<String> {
    /// Returns the codec of a text of any length.
    static func any(_ form: String) -> Self {
        Self(form, read: { $0.string }, write: { text, json in json.string(text) })
    }
}

extension ValueCodec<Set<APNSEnvironment>> {
    static var environments: Self {
        ValueCodec<[APNSEnvironment]>.list(of: .word, "an environment").mapped(
            "a list of at least one environment", read: { $0.isEmpty ? nil : Set($0) },
            write: { $0.sorted { $0.rawValue < $1.rawValue } })
    }
}

extension ValueCodec<Set<String>> {
    static var topics: Self {
        ValueCodec<[String]>.list(of: .bundleID, "a topic").mapped(
            "a list of at least one bundle ID", read: { $0.isEmpty ? nil : Set($0) }, write: { $0.sorted() })
    }
}
