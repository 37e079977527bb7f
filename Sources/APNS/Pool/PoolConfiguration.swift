public import APNSProtocol

/// The configuration of an ``APNSPool``. A pool serves one environment and endpoint with one credential. APNs binds a
/// connection to its certificate, or to the team and key of its first push.
public struct PoolConfiguration: Sendable {
    public var environment: APNSEnvironment
    public var credential: Credential
    /// Value of `:authority`: the host name, and the port unless it is 443.
    public var authority: String

    /// Maximum number of connections that accept pushes. The pool may exceed this number by one. It then opens the
    /// extra connection for a push that must be the first on its connection, or because the first push of a connection
    /// stays unanswered.
    public var connectionsMax = 2
    /// Bounds of the delay after which a connection that the load does not need is drained. The delay is random.
    /// Otherwise, many pools would drain connections, and later reconnect, at the same time.
    public var shrinkSecondsMin: Int64 = 300
    public var shrinkSecondsMax: Int64 = 600
    /// Maximum number of open requests on one connection. The limit of APNs applies, too.
    public var streamsMax = 1000
    /// Maximum number of pushes that wait for a free stream, a new connection, or a provider token. Resends may exceed
    /// this number.
    public var waitingMax = 20_000
    /// Maximum time that a push waits for a free stream before the pool returns it unsent. The time is shorter if the
    /// push expires sooner.
    public var waitSecondsMax: Int64 = 30
    /// Maximum time that a push waits for a provider token from the ``TokenSupply`` when the newest token is too old.
    public var tokenWaitSecondsMax: Int64 = 5
    /// Maximum time until the answer to a push. The time is shorter if the push expires sooner. While the request is
    /// still buffered, the time is extended by `pingTimeoutSeconds`.
    public var requestTimeoutSeconds: Int64 = 30
    /// Minimum answer timeout of a push that expires sooner. Without this minimum, a push that APNs accepted just
    /// before the expiration would get an unknown outcome.
    public var requestTimeoutSecondsMin: Int64 = 2
    /// Maximum number of bytes that are read of an answer's body. The rest is ignored.
    public var answerBytesMax = 16_384
    /// Time without an answer to a connection's first push after which another connection may be opened.
    public var probeAnswerSecondsMax: Int64 = 5
    /// Maximum time from the end of the TLS handshake to APNs' SETTINGS. The connector's `ConnectOptions` limit the
    /// earlier steps.
    public var settingsTimeoutSeconds: Int64 = 8
    /// Idle time after which a PING is sent.
    public var idlePingSeconds: Int64 = 60
    /// Maximum time until the answer to a PING.
    public var pingTimeoutSeconds: Int64 = 10
    /// Maximum time to wait for the answers to open requests after a GOAWAY from APNs. If the pool drains a connection,
    /// the time is at least `requestTimeoutSeconds`.
    public var drainGraceSeconds: Int64 = 20
    /// Maximum time to write this side's GOAWAY after the wait for the last answers.
    public var closeSecondsMax: Int64 = 2
    /// Maximum number of resends of a push that APNs did not process. The single resend with a new token may exceed
    /// this number.
    public var resendsMax = 3
    /// Number of consecutive server errors after which a connection is replaced. A server error is an answer that has
    /// status 5xx or does not come from APNs.
    public var serverErrorsMax = 5
    public var token = ProviderTokenPolicy.Configuration()
    public var reconnect = ReconnectPolicy.Configuration()

    /// Creates a configuration with default limits.
    ///
    /// - Parameter authority: the host name, and the port unless it is 443; nil means Apple's host for the
    ///   environment.
    public init(environment: APNSEnvironment, credential: Credential, authority: String? = nil) {
        self.environment = environment
        self.credential = credential
        self.authority = authority ?? environment.pushHost
    }

    public init(environment: APNSEnvironment, key: ProviderKey, authority: String? = nil) {
        self.init(environment: environment, credential: .key(key), authority: authority)
    }
}
