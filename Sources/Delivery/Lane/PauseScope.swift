import APNS

/// The part of a worker that an operator pauses.
public enum PauseScope: Sendable, Hashable, CustomStringConvertible {
    /// The worker consumes no requests.
    case everything
    /// Pushes with the key of this key ID are held, as by an open breaker.
    case key(String)
    /// Pushes with the certificate of this name are held.
    case certificate(String)
    /// Pushes to this topic are held.
    case topic(String)

    public var description: String {
        switch self {
        case .everything: "everything"
        case .key(let keyID): "key \(keyID)"
        case .certificate(let name): "certificate \(name)"
        case .topic(let topic): "topic \(topic)"
        }
    }
}

extension PauseScope {
    /// Whether the scope is this credential.
    func matches(_ credential: Credential.Name) -> Bool {
        switch (self, credential) {
        case (.key(let keyID), .key(let id, _)): keyID == id
        case (.certificate(let pausedName), .certificate(let name)): pausedName == name
        default: false
        }
    }
}
