/// By what right a pool pushes.
public enum Credential: Sendable, CustomStringConvertible {
    /// It signs provider tokens.
    case key(ProviderKey)
    /// The connector shows it within TLS; this is the name that operators know it by.
    case certificate(String)

    /// No secret.
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
