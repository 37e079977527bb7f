/// How to log in at a broker and how to keep the connection.
public struct ConnectionConfiguration: Sendable {
    public var credentials: AMQPCredentials
    /// Whether the certificate that the connectors show in TLS says who logs in (SASL EXTERNAL, RFC 4422, appendix A),
    /// where the broker offers that; else `credentials` do.
    public var prefersCertificate = false
    public var virtualHost = "/"
    /// What the broker's management shows for this connection.
    public var connectionName = "martlet"
    /// Something is sent every half of it; after two without a byte from the broker the connection counts as dead.
    /// The broker may lower it. 0 turns heartbeats off.
    public var heartbeatSeconds = 30
    /// The largest frame in either direction; the broker may lower it. Brokers from 4.1 refuse less than 8192.
    public var frameBytesMax = 131_072
    /// From the open stream until the login is over, and from opening a channel until it is ready to work. Opening the
    /// stream has the limits of the connector's `ConnectOptions`.
    public var openingDeadlineSeconds = 15
    /// The least delay after a failure.
    public var retryDelayMillisecondsMin = 100
    /// The largest first delay after a failure; it doubles with each further one, and a random part of it is waited.
    public var retryDelayMilliseconds = 500
    /// The largest delay. A refused login or a configuration fault waits between half of it and all.
    public var retryDelayMillisecondsMax = 30_000
    /// A connection that lived so long makes the delays start small again.
    public var healthyAfterSeconds = 60
    /// Bytes that may wait for the socket to take them; a broker that leaves more unread is disconnected.
    public var outputBytesMax = 64 << 20

    /// Longest text of a property, in bytes.
    private static let userIDBytesMax = 255

    /// The user that the broker knows the connection by; nil where only the broker derives it, from a certificate.
    public var userID: String? {
        let user = credentials.user
        return prefersCertificate || user.isEmpty || user.utf8.count > Self.userIDBytesMax ? nil : user
    }

    public init(credentials: AMQPCredentials) {
        self.credentials = credentials
    }

    /// What the URL says, and the defaults for all else.
    public init(_ url: AMQPURL) {
        credentials = url.credentials
        virtualHost = url.virtualHost
        heartbeatSeconds = url.heartbeatSeconds ?? heartbeatSeconds
        openingDeadlineSeconds = url.stepSecondsMax ?? openingDeadlineSeconds
    }
}

/// A user and its password. The password shows in no description.
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
