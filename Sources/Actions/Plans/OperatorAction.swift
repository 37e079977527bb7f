package import ControlProtocol
import Delivery

/// An action of an operator on a fleet, as a console plans and runs it.
package enum OperatorAction: Sendable, Hashable {
    case pause(PauseAction)
    case test(TestRequest)

    /// The name of the action, which is also the verb of its records in the audit.
    package var name: String {
        switch self {
        case .pause(let action) where action.effect == .resume: "resume"
        case .pause: "pause"
        case .test: "test_push"
        }
    }

    /// The command that does the same.
    package var commandLine: String {
        switch self {
        case .pause(let action): action.commandLine
        case .test(let request): request.commandLine
        }
    }

    /// The command without values that the audit must not contain.
    package var recordedCommandLine: String {
        guard case .test(var request) = self else { return commandLine }
        request.deviceToken = request.deviceToken.prefix(Self.shownTokenCharacters) + "…"
        return request.commandLine
    }

    private static let shownTokenCharacters = 8

    /// Whether the action stops all requests of the fleet.
    private var pausesEverything: Bool {
        guard case .pause(let action) = self else { return false }
        return action.scope == .everything && action.effect != .resume
    }

    /// The lowest role that may run the action.
    package var role: OperatorRole { pausesEverything ? .admin : .operate }

    /// The words that the operator must type before the action; nil for an action with a limited effect.
    ///
    /// - Parameter prefix: the prefix of the names at the broker.
    package func phrase(prefix: String) -> String? { pausesEverything ? "pause \(prefix)" : nil }

    /// Returns the effect in words.
    ///
    /// - Parameter workers: the number of reporting workers.
    package func summary(workers: Int) -> String {
        let count = "\(workers) worker\(workers == 1 ? "" : "s")"
        return switch self {
        case .pause(let action) where action.effect == .resume: "Resumes \(Self.text(action.scope)) in \(count)"
        case .pause(let action): "Pauses \(Self.text(action.scope)) in \(count)"
        case .test(let request): "Publishes a test notification for one device of \(request.app)"
        }
    }

    private static func text(_ scope: PauseScope) -> String {
        scope == .everything ? "everything" : "the \(scope)"
    }
}
