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

extension PauseScope: LosslessStringConvertible {
    /// Creates the scope with this description; nil for other texts.
    public init?(_ description: String) {
        guard description != Self.everything.description else {
            self = .everything
            return
        }
        // Compare Unicode scalars. A name may begin with a combining mark, which forms one character with the space.
        let scalars = description.unicodeScalars
        guard let space = scalars.firstIndex(of: " ") else { return nil }
        let name = String(scalars[scalars.index(after: space)...])
        guard !name.isEmpty else { return nil }
        switch String(scalars[..<space]) {
        case "key": self = .key(name)
        case "certificate": self = .certificate(name)
        case "topic": self = .topic(name)
        default: return nil
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
