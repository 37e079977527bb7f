import APNS

/// The part of a worker that an operator pauses.
public enum PauseScope: Sendable, Hashable, CustomStringConvertible {
    /// The whole worker: no requests are consumed.
    case everything
    /// The pushes with the key of this key ID, which are held as by an open breaker.
    case key(String)
    /// The pushes with the certificate of this name, which are held.
    case certificate(String)
    /// The pushes to this topic, which are held.
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
    /// Returns whether the scope is the key or certificate with this name.
    func matches(_ credential: Credential.Name) -> Bool {
        switch (self, credential) {
        case (.key(let keyID), .key(let id, _)): keyID == id
        case (.certificate(let pausedName), .certificate(let name)): pausedName == name
        default: false
        }
    }
}
