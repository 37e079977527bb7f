/// The login and the limits of a connection.
public struct ConnectionConfiguration: Sendable {
    public var credentials: AMQPCredentials
    /// Whether to log in with the connectors' TLS client certificate (SASL EXTERNAL, RFC 4422, appendix A) if the
    /// broker offers this mechanism. Otherwise the login uses `credentials`.
    public var prefersCertificate = false
    public var virtualHost = "/"
    /// The name of the connection in RabbitMQ's management UI.
    public var connectionName = "martlet"
    /// The heartbeat timeout, which the broker may lower. 0 disables heartbeats. The client sends at least one frame in
    /// each timeout, unless earlier output still waits for the socket. The connection counts as dead after two timeouts
    /// without a byte from the broker.
    public var heartbeatSeconds = 30
    /// The largest frame, in bytes, that the login proposes for both directions. The broker may lower this limit.
    /// RabbitMQ 4.1 and later refuse less than 8192.
    public var frameBytesMax = 131_072
    /// The timeout of the login, and of opening and setting up a channel. The login begins when the stream is open.
    /// The connector's `ConnectOptions` limit the time to open the stream.
    public var openingDeadlineSeconds = 15
    /// The least delay after a failure.
    public var retryDelayMillisecondsMin = 100
    /// The largest delay after the first failure. The largest delay doubles with each further failure. The actual
    /// delay is random, between the least and the largest delay.
    public var retryDelayMilliseconds = 500
    /// The largest delay after any failure. After a refused login or a configuration error, the delay is random
    /// between half of this limit and the limit.
    public var retryDelayMillisecondsMax = 30_000
    /// The time for which a connection or channel must be ready before its delays restart from the first delay.
    public var healthyAfterSeconds = 60
    /// The limit of output that the socket has not accepted. If the output reaches the limit, the connection is reset.
    public var outputBytesMax = 64 << 20

    /// The longest string property, in bytes.
    private static let userIDBytesMax = 255

    /// The user of the connection at the broker. The user is nil if the broker may derive the user from a certificate,
    /// or if the name cannot be a property.
    public var userID: String? {
        let user = credentials.user
        return prefersCertificate || user.isEmpty || user.utf8.count > Self.userIDBytesMax ? nil : user
    }

    public init(credentials: AMQPCredentials) {
        self.credentials = credentials
    }

    /// Creates a configuration from the URL. Settings that the URL does not contain have their defaults.
    public init(_ url: AMQPURL) {
        credentials = url.credentials
        virtualHost = url.virtualHost
        heartbeatSeconds = url.heartbeatSeconds ?? heartbeatSeconds
        openingDeadlineSeconds = url.stepSecondsMax ?? openingDeadlineSeconds
    }
}

/// A user and its password. No description contains the password.
public struct AMQPCredentials: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    public var description: String { user }
    public var debugDescription: String { user }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}
