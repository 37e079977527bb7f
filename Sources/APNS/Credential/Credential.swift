/// The credential that a pool pushes with.
public enum Credential: Sendable, CustomStringConvertible {
    /// A key that signs provider tokens.
    case key(ProviderKey)
    /// A certificate, by its configured name. The connector presents the certificate in the TLS handshake.
    case certificate(String)

    /// The credential's identity for logs and status. Contains no secret.
    public enum Name: Sendable, Hashable, CustomStringConvertible {
        case key(id: String, team: String)
        case certificate(String)

        public var description: String {
            switch self {
            case .key(let id, _): "key \(id)"
            case .certificate(let name): "certificate \(name)"
            }
        }
    }

    public var name: Name {
        switch self {
        case .key(let key): .key(id: key.keyID, team: key.teamID)
        case .certificate(let name): .certificate(name)
        }
    }

    public var description: String { name.description }

    var key: ProviderKey? {
        switch self {
        case .key(let key): key
        case .certificate: nil
        }
    }
}
