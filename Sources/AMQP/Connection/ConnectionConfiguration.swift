/// The login and the limits of a connection.
public struct ConnectionConfiguration: Sendable {
    public var credentials: AMQPCredentials
    /// Whether to log in by the connectors' TLS certificate (SASL EXTERNAL, RFC 4422, appendix A) if the broker offers
    /// this mechanism. Otherwise the login uses `credentials`.
    public var prefersCertificate = false
    public var virtualHost = "/"
    /// The name of the connection in RabbitMQ's management UI.
    public var connectionName = "martlet"
    /// The heartbeat timeout. The client sends at least every half of it. The connection counts as dead after two of
    /// them without a byte from the broker. The broker may lower it. 0 disables heartbeats.
    public var heartbeatSeconds = 30
    /// The largest frame in either direction; the broker may lower it. Brokers from 4.1 refuse less than 8192.
    public var frameBytesMax = 131_072
    /// The timeout of the login, from the open stream on, and of opening and setting up a channel. The connector's
    /// `ConnectOptions` limit the time to open the stream.
    public var openingDeadlineSeconds = 15
    /// The least delay after a failure.
    public var retryDelayMillisecondsMin = 100
    /// The largest delay after the first failure. It doubles with each further failure. The actual delay is random,
    /// between the least and the largest.
    public var retryDelayMilliseconds = 500
    /// The largest delay. After a refused login or a configuration error, the delay is between half of it and all of
    /// it.
    public var retryDelayMillisecondsMax = 30_000
    /// The lifetime of a connection after which the delays start from the first one again.
    public var healthyAfterSeconds = 60
    /// The limit of output that the socket has not accepted. A broker that leaves more unread is disconnected.
    public var outputBytesMax = 64 << 20

    /// The longest string property, in bytes.
    private static let userIDBytesMax = 255

    /// The user of the connection at the broker; nil if the broker may derive it from a certificate, or if the name
    /// cannot be a property.
    public var userID: String? {
        let user = credentials.user
        return prefersCertificate || user.isEmpty || user.utf8.count > Self.userIDBytesMax ? nil : user
    }

    public init(credentials: AMQPCredentials) {
        self.credentials = credentials
    }

    /// Creates a configuration from the URL, with defaults for everything else.
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
