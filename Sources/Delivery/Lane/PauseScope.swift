import APNS

/// The part of a worker that an operator pauses.
public enum PauseScope: Sendable, Hashable, CustomStringConvertible {
    /// The whole worker, whose lanes consume no requests.
    case everything
    /// The pushes that use the key with this ID. They are held as if a breaker were open.
    case key(String)
    /// The pushes that use the certificate with this name. They are held as if a breaker were open.
    case certificate(String)
    /// The pushes to this topic. They are held as if a breaker were open.
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
