public import APNSProtocol
import EventLoop

/// The status of a pool, for operators.
public struct PoolStatus: Sendable, Hashable {
    public var environment: APNSEnvironment
    /// Host name of the endpoint, followed by the port unless it is the default port of `https`.
    public var authority: String
    public var credential: Credential.Name
    /// Number of connections, including those that connect or drain.
    public var connections: Int
    /// Whether a connection is up and accepts pushes.
    public var isConnected: Bool
    /// Number of open requests on all connections.
    public var streams: Int
    /// Number of pushes that wait for a stream or for a provider token.
    public var waiting: Int
    /// Age of the newest provider token; nil before the first token, or if the credential is a certificate.
    public var tokenAgeSeconds: Int?
}

extension APNSPool {
    /// The status at this moment. Call only on the loop's thread.
    public var status: PoolStatus {
        PoolStatus(
            environment: configuration.environment, authority: configuration.authority,
            credential: configuration.credential.name, connections: connectionCount, isConnected: isConnected,
            streams: machine.streamCount, waiting: waitingCount, tokenAgeSeconds: tokenAgeSeconds)
    }
}
