/// The topology's objects as text for operators.
extension Topology.Binding {
    /// The binding as text, such as `push.requests to push.requests by #`.
    public var text: String { "\(shownDestination) to \(exchange)\(keyText)" }

    /// The name of the destination, with the prefix `exchange ` if the destination is an exchange.
    public var shownDestination: String {
        switch kind {
        case .queue: destination
        case .exchange: "exchange \(destination)"
        }
    }

    /// The binding's condition: a routing key, or headers.
    public var shownKey: String { arguments.isEmpty ? routingKey : arguments.text }

    /// ` by ` and the condition; empty if the binding has no condition.
    public var keyText: String { shownKey.isEmpty ? "" : " by \(shownKey)" }
}

extension [Topology.Argument] {
    /// The arguments as text, such as `x-queue-type=quorum x-max-length=5`.
    public var text: String { map { "\($0.name)=\($0.value.text)" }.joined(separator: " ") }
}

extension Topology.Argument.Value {
    fileprivate var text: String { plainText.isEmpty ? "\"\"" : plainText }

    /// The value in the format of a broker snapshot.
    var plainText: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
