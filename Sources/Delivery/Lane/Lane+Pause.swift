import APNS
import EventLoop
import Telemetry

/// What an operator wants paused.
public enum PauseScope: Sendable, Hashable, CustomStringConvertible {
    /// No message is taken.
    case everything
    /// What is pushed with the key of this key ID waits, as behind an open breaker.
    case key(String)
    /// What is pushed with the certificate of this name does.
    case certificate(String)
    /// What is pushed to this topic does.
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
    func means(_ credential: Credential.Name) -> Bool {
        switch (self, credential) {
        case (.key(let meant), .key(let id, _)): meant == id
        case (.certificate(let meant), .certificate(let name)): meant == name
        default: false
        }
    }
}

extension Lane {
    /// Pauses or resumes; what is on its way to APNs is settled as ever. Lasts until the other is asked for, or the end of
    /// the process.
    ///
    /// - Returns: false when the lane knows no such key, certificate or topic.
    public func pause(_ scope: PauseScope, _ isPaused: Bool = true) -> Bool {
        switch scope {
        case .everything:
            state.isPaused = isPaused
            wantsChanged()
            return true
        case .key, .certificate, .topic:
            let places = places(of: scope)
            for place in places { breakers.pause(place, isPaused) }
            return !places.isEmpty
        }
    }

    private func places(of scope: PauseScope) -> [BreakerScope] {
        switch scope {
        case .everything: []
        case .key, .certificate:
            pools.indices.filter { scope.means(pools[$0].configuration.credential.name) }
                .map { .credential(pool: $0) }
        case .topic(let topic): configuration.apps.routes(of: topic).map { .topic($0) }
        }
    }
}
