/// One connection of a virtual network, which a test can observe and cut.
public final class VirtualConnection {
    public enum Direction: Sendable, Hashable { case toServer, toClient }

    /// The number of the connection, counted from 0 in the order of opening.
    public let number: Int
    /// The endpoint that the client connected to.
    public let endpoint: Endpoint
    /// The number of bytes delivered to the server so far.
    public internal(set) var deliveredToServer = 0
    public internal(set) var deliveredToClient = 0
    public internal(set) var isOpen = true
    /// The function that is called before each piece is delivered. The function may cut the connection.
    public var onDelivery: (Direction, _ bytes: Int) -> Void = { _, _ in }

    /// The client's end. The reference is weak, so that only the users of an ended transport keep it alive.
    private weak let client: VirtualTransport?
    private weak let server: VirtualTransport?
    private var cutToServerAt = Int.max
    private var cutToClientAt = Int.max

    init(number: Int, endpoint: Endpoint, client: VirtualTransport, server: VirtualTransport) {
        self.number = number
        self.endpoint = endpoint
        self.client = client
        self.server = server
    }

    /// Ends the connection for both sides immediately. Bytes in transit are lost.
    public func cut() {
        guard isOpen else { return }
        isOpen = false
        let error = TransportError(.reset, "\(endpoint): connection reset by peer")
        client?.end(error)
        server?.end(error)
    }

    /// Cuts the connection after `bytes` more bytes in `direction`, within a piece if necessary.
    public func cut(after bytes: Int, _ direction: Direction) {
        switch direction {
        case .toServer: cutToServerAt = min(cutToServerAt, deliveredToServer + bytes)
        case .toClient: cutToClientAt = min(cutToClientAt, deliveredToClient + bytes)
        }
    }

    func direction(to receiver: VirtualTransport) -> Direction {
        receiver === server ? .toServer : .toClient
    }

    /// Returns the number of `bytes` that may still be delivered before the cut.
    func allowance(_ bytes: Int, _ direction: Direction) -> Int {
        switch direction {
        case .toServer: min(bytes, cutToServerAt - deliveredToServer)
        case .toClient: min(bytes, cutToClientAt - deliveredToClient)
        }
    }

    func count(_ bytes: Int, _ direction: Direction) {
        switch direction {
        case .toServer: deliveredToServer += bytes
        case .toClient: deliveredToClient += bytes
        }
    }
}
