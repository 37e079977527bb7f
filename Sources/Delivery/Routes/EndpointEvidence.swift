import Crypto

/// The evidence that a reachable endpoint fails. The evidence consists of answers that report a failing service or that
/// are not from APNs. Unanswered pushes count if APNs has not accepted the credential on their connection.
///
/// The failure of one request or connection may have a local cause, so several requests and connections must fail.
struct EndpointEvidence: Sendable, Hashable {
    static let messagesMin = 5
    static let connectionsMin = 2
    /// The number of consecutive connections of a pool that must end with a push in flight and without any answer
    /// (`PoolEvent.endedUnanswered`) before a breaker opens.
    static let endedConnectionsMin = 3

    /// The latest failed requests, without duplicates.
    private var messages: [UUIDValue] = []
    private var connections: [Int] = []

    var isEmpty: Bool { messages.isEmpty }

    /// Adds a failure. Returns whether the evidence suffices.
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
