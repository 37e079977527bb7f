public import APNSProtocol
import EventLoop

/// How a pool stands, for operators.
public struct PoolStatus: Sendable, Hashable {
    public var environment: APNSEnvironment
    /// Host, and port where it is not the scheme's own.
    public var authority: String
    public var credential: Credential.Name
    /// Connections that have not ended.
    public var connections: Int
    /// Whether one of them takes pushes.
    public var isConnected: Bool
    /// Pushes that wait for their answer.
    public var streams: Int
    /// Pushes that wait for a stream.
    public var waiting: Int
    /// Of the newest provider token; nil before the first.
    public var tokenAgeSeconds: Int?
}

extension APNSPool {
    /// To be called on the loop.
    public var status: PoolStatus {
        PoolStatus(
            environment: configuration.environment, authority: configuration.authority,
            credential: configuration.credential.name, connections: connectionCount, isConnected: isConnected,
            streams: machine.streamCount, waiting: waitingCount, tokenAgeSeconds: tokenAgeSeconds)
    }
}
