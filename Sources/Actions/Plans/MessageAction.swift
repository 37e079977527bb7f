import BrokerTopology
package import ControlProtocol
package import DeadLetters

/// An action that removes messages from queues. It holds the lock of its queues.
package enum MessageAction: Sendable, Hashable {
    /// The number of messages above which an operator types a phrase.
    package static let unconfirmedMax = 1000

    case resend(ResendAction)
    case drop(DropAction)
    case edit(EditAction)

    package var source: MessageSource {
        switch self {
        case .resend(let action): action.source
        case .drop, .edit: .deadLetters
        }
    }

    /// The name of the action.
    package var name: String {
        switch self {
        case .resend(let action): action.name
        case .drop: "drop"
        case .edit: "edit"
        }
    }

    /// The names of all actions on the messages of a source.
    package static func names(of source: MessageSource) -> Set<String> {
        switch source {
        case .deadLetters: ["redrive", "drop", "edit"]
        case .waits: ["bring_back"]
        case .unrouted: ["replay"]
        }
    }

    /// The lowest role that may run the action.
    package var role: OperatorRole {
        switch self {
        case .resend, .edit: .operate
        case .drop: .admin
        }
    }

    /// The equivalent command, without the options of the broker.
    package var commandLine: String {
        switch self {
        case .resend(let action): action.commandLine
        case .drop(let action): action.commandLine
        case .edit(let action): action.commandLine
        }
    }

    /// The action with `"…"` for texts that the audit must not contain.
    var masked: MessageAction {
        switch self {
        case .resend(var action):
            if case .deadLetters(let selection) = action.choice { action.choice = .deadLetters(selection.masked) }
            return .resend(action)
        case .drop(var action):
            action.choice = action.choice.masked
            return .drop(action)
        case .edit: return self
        }
    }

    /// Returns the words that the operator must type for a number of messages; nil for a small number.
    ///
    /// - Parameter prefix: the prefix of the names at the broker.
    package func phrase(count: Int, prefix: String) -> String? {
        guard count > Self.unconfirmedMax else { return nil }
        return "\(name.replacing("_", with: " ")) \(prefix)"
    }

    /// Returns the maximum number of messages that a run removes, so that no message is removed without the
    /// confirmation of an operator. Messages may have arrived since the preview.
    ///
    /// - Parameter extent: the messages of the preview.
    package func limit(confirmed extent: MessageExtent) -> Int {
        switch self {
        case .resend(let action):
            // The number of waiting requests is an estimate, since their reading would delay them.
            let confirmed = action.source == .waits ? max(extent.count, Self.unconfirmedMax) : extent.count
            return min(action.limit ?? .max, confirmed)
        case .drop(let action): return min(action.limit ?? .max, extent.count)
        case .edit: return 1
        }
    }

    /// Returns the effect in words.
    func summary(_ extent: MessageExtent, _ names: TopologyNames) -> String {
        switch self {
        case .resend(let action): action.summary(extent, names)
        case .drop: "Drops \(extent.counted("dead letter")) of \(names.deadQueue) after their export to a file"
        case .edit(let action): "Sends the corrected dead letter \(action.id) as a request"
        }
    }
}
