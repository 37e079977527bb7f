package import BrokerTopology
package import ControlProtocol
import Delivery
import Text

/// An action of an operator on a fleet, as a console plans and runs it.
package enum OperatorAction: Sendable, Hashable {
    case pause(PauseAction)
    case probe(FleetProbe)
    case test(TestRequest)
    case messages(MessageAction)

    /// Returns the names of the actions that a role may run, possibly not on each scope.
    package static func names(for role: OperatorRole) -> [String] {
        let operate = ["pause", "resume", "probe", "test_push", "redrive", "bring_back", "edit"]
        return switch role {
        case .view: []
        case .operate: operate
        case .admin: operate + ["drop"]
        }
    }

    /// The name of the action, which is also the verb of its records in the audit.
    package var name: String {
        switch self {
        case .pause(let action) where action.effect == .resume: "resume"
        case .pause: "pause"
        case .probe: "probe"
        case .test: "test_push"
        case .messages(let action): action.name
        }
    }

    /// The command that does the same.
    package var commandLine: String {
        switch self {
        case .pause(let action): action.commandLine
        case .probe(let probe): probe.commandLine
        case .test(let request): request.commandLine
        case .messages(let action): action.commandLine
        }
    }

    /// The command without values that the audit must not contain.
    package var recordedCommandLine: String {
        switch self {
        case .pause, .probe: return commandLine
        case .test(var request):
            request.deviceToken = request.deviceToken.prefix(Self.shownTokenCharacters) + "…"
            return request.commandLine
        case .messages(let action): return action.masked.commandLine
        }
    }

    private static let shownTokenCharacters = 8

    /// Whether the action stops all requests of the fleet.
    private var pausesEverything: Bool {
        guard case .pause(let action) = self else { return false }
        return action.scope == .everything && action.effect != .resume
    }

    /// The lowest role that may run the action.
    package var role: OperatorRole {
        if case .messages(let action) = self { return action.role }
        return pausesEverything ? .admin : .operate
    }

    /// The words that the operator must type before the action; nil for an action with a limited effect.
    ///
    /// - Parameters:
    ///   - prefix: the prefix of the names at the broker.
    ///   - messages: the messages that the action concerns.
    package func phrase(prefix: String, messages: MessageExtent) -> String? {
        if case .messages(let action) = self { return action.phrase(count: messages.count, prefix: prefix) }
        return pausesEverything ? "pause \(prefix)" : nil
    }

    /// Returns the effect in words.
    ///
    /// - Parameters:
    ///   - workers: the number of reporting workers.
    ///   - probed: the breakers that the action probes; empty for other actions.
    ///   - messages: the messages that the action concerns.
    package func summary(
        workers: Int, probed: FleetProbe.Plan, messages: MessageExtent, _ names: TopologyNames
    ) -> String {
        let count = workers.counted("worker")
        return switch self {
        case .pause(let action) where action.effect == .resume: "Resumes \(Self.text(action.scope)) in \(count)"
        case .pause(let action): "Pauses \(Self.text(action.scope)) in \(count)"
        case .probe(let probe):
            "Probes \(probed.breakerCount.counted("open breaker")) of \(Self.text(probe.scope)) in "
                + "\(probed.breakers.count) of \(count)"
        case .test(let request): "Publishes a test notification for one device of \(request.app)"
        case .messages(let action): action.summary(messages, names)
        }
    }

    private static func text(_ scope: PauseScope) -> String {
        scope == .everything ? "everything" : "the \(scope)"
    }

    private static func text(_ scope: ProbeScope) -> String {
        scope == .part(.everything) ? "all scopes" : "the \(scope)"
    }
}
