import Crypto

/// What speaks against an endpoint that can be reached: answers that say the service fails, or that are not APNs' own; and
/// connections on which none ever comes.
/// One message or one connection can be bad by itself, so it takes several of both.
struct EndpointEvidence: Sendable, Hashable {
    static let messagesMin = 5
    static let connectionsMin = 2
    /// Connections in a row that end with a push in flight and none answered, counted by each pool
    /// (`PoolEvent.endedUnanswered`).
    static let endedConnectionsMin = 3

    /// The newest of them, each once.
    private var messages: [UUIDValue] = []
    private var connections: [Int] = []

    var isEmpty: Bool { messages.isEmpty }

    /// Returns whether it suffices.
    mutating func add(_ message: UUIDValue, connection: Int) -> Bool {
        if !messages.contains(message) {
            if messages.count == Self.messagesMin { messages.removeFirst() }
            messages.append(message)
        }
        if !connections.contains(connection) {
            if connections.count == Self.connectionsMin { connections.removeFirst() }
            connections.append(connection)
        }
        return messages.count >= Self.messagesMin && connections.count >= Self.connectionsMin
    }

    mutating func clear() {
        messages.removeAll(keepingCapacity: true)
        connections.removeAll(keepingCapacity: true)
    }
}
