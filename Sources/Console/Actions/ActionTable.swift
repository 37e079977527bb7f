import Crypto

/// The actions of this console, by the ids that pages have made. A repeated request of an action finds the action. It
/// performs no I/O.
struct ActionTable: Sendable {
    /// Maximum number of actions. A further action replaces the oldest that has ended.
    static let actionsMax = 1000
    /// Maximum number of actions that have not ended.
    static let runningMax = 16

    enum State: Sendable, Hashable {
        case running
        case done(String)
        /// The action ended early because of an operator or a limit.
        case stopped(String)
        case failed(String)

        var word: String {
            switch self {
            case .running: "running"
            // A page shows the result, which names the stop.
            case .done, .stopped: "done"
            case .failed: "failed"
            }
        }
    }

    /// The progress of an action that publishes messages.
    struct Progress: Sendable, Hashable {
        var done: Int
        var total: Int
        /// The ids of the first requests that were published.
        var ids: [String]
    }

    struct Action: Sendable, Hashable {
        let id: UUIDValue
        /// The operator that began the action.
        let by: String
        /// The content of the request.
        let content: String
        var state = State.running
        /// nil for an action that publishes no messages again.
        var progress: Progress?
    }

    /// The effect of a request for an action.
    enum Beginning: Sendable, Hashable {
        /// A new action, which must run now.
        case begun
        /// An action that an earlier request of the same operator with the same content has begun.
        case known(Action)
        /// An id that another action has.
        case taken
        /// Too many actions that have not ended.
        case full
    }

    private var actions: [UUIDValue: Action] = [:]
    /// The ids of all actions, oldest first.
    private var order: [UUIDValue] = []

    mutating func begin(_ id: UUIDValue, by name: String, content: String) -> Beginning {
        if let known = actions[id] { return known.by == name && known.content == content ? .known(known) : .taken }
        guard actions.values.count(where: { $0.state == .running }) < Self.runningMax else { return .full }
        if order.count >= Self.actionsMax, let oldest = order.firstIndex(where: { actions[$0]?.state != .running }) {
            actions[order.remove(at: oldest)] = nil
        }
        actions[id] = Action(id: id, by: name, content: content)
        order.append(id)
        return .begun
    }

    mutating func end(_ id: UUIDValue, _ state: State, _ progress: Progress? = nil) {
        actions[id]?.state = state
        actions[id]?.progress = progress
    }

    /// Forgets an action that has not begun to have an effect, so that it can be requested again.
    mutating func forget(_ id: UUIDValue) {
        actions[id] = nil
        order.removeAll { $0 == id }
    }

    func action(_ id: UUIDValue) -> Action? { actions[id] }
}
