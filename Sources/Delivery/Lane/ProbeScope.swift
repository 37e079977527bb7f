/// The open breakers that an operator probes.
public enum ProbeScope: Sendable, Hashable, CustomStringConvertible {
    /// The breakers of a key, a certificate or a topic. With `everything`, all breakers, including those of endpoints
    /// and of the store.
    case part(PauseScope)
    /// The breaker of the endpoint with this authority, such as `api.push.apple.com`.
    case endpoint(String)
    /// The breaker of the store of device registrations.
    case store

    private static let endpointWord = "endpoint "

    public var description: String {
        switch self {
        case .part(let scope): scope.description
        case .endpoint(let authority): Self.endpointWord + authority
        case .store: DeviceFinder.route
        }
    }
}

extension ProbeScope: LosslessStringConvertible {
    /// Creates the scope with this description; nil for other texts.
    public init?(_ description: String) {
        if description == Self.store.description {
            self = .store
        } else if description.hasPrefix(Self.endpointWord), description.count > Self.endpointWord.count {
            self = .endpoint(String(description.dropFirst(Self.endpointWord.count)))
        } else if let scope = PauseScope(description) {
            self = .part(scope)
        } else {
            return nil
        }
    }
}

extension ProbeScope {
    /// Creates the narrowest scope that contains an open breaker with this route, as in the status of a worker.
    public init(ofRoute route: String) {
        guard route != DeviceFinder.route else {
            self = .store
            return
        }
        // A topic contains no space, and the name of a certificate may contain any word.
        let words = route.split(separator: " ", omittingEmptySubsequences: false)
        if words.count >= 3, words[words.count - 2] == "topic", let topic = words.last, !topic.isEmpty {
            self = .part(.topic(String(topic)))
        } else if let space = route.firstIndex(of: " "),
            let scope = PauseScope(String(route[route.index(after: space)...])), scope != .everything
        {
            self = .part(scope)
        } else {
            self = .endpoint(route)
        }
    }

    /// Returns whether an open breaker with this route, as in the status of a worker, is in the scope. A breaker of a
    /// topic is not in the scope of its key.
    public func contains(route: String) -> Bool {
        switch self {
        case .part(.everything): true
        case .part: route.hasSuffix(" \(self)")
        case .endpoint(let authority): route == authority
        case .store: route == DeviceFinder.route
        }
    }
}
