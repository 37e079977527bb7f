/// A topology's objects as text for people.
extension Topology.Binding {
    /// `push.requests to push.requests by #`.
    public var text: String { "\(shownDestination) to \(exchange)\(keyText)" }

    /// Names an exchange as such, since most bindings lead to queues.
    public var shownDestination: String {
        switch kind {
        case .queue: destination
        case .exchange: "exchange \(destination)"
        }
    }

    /// What a message must have: a routing key, or headers.
    public var shownKey: String { arguments.isEmpty ? routingKey : arguments.text }

    /// ` by ` and what a message must have; empty if the binding matches every message.
    public var keyText: String { shownKey.isEmpty ? "" : " by \(shownKey)" }
}

extension [Topology.Argument] {
    /// `x-queue-type=quorum x-max-length=5`.
    public var text: String { map { "\($0.name)=\($0.value.text)" }.joined(separator: " ") }
}

extension Topology.Argument.Value {
    fileprivate var text: String { plainText.isEmpty ? "\"\"" : plainText }

    /// As a snapshot of the broker has it.
    var plainText: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
