public import APNSProtocol

/// All that a pool of connections needs to know. A pool serves one environment and endpoint with one key of one team:
/// a connection to APNs belongs to the team and key of its first push.
public struct PoolConfiguration: Sendable {
    public var environment: APNSEnvironment
    public var key: ProviderKey
    /// Value of `:authority`: the host's name.
    public var authority: String

    /// Connections that take requests at the same time.
    public var connectionsMax = 2
    /// Requests open at once on one connection, if APNs allows as many.
    public var streamsMax = 1000
    /// Pushes that wait for a free stream.
    public var waitingMax = 20_000
    /// How long a push waits for a free stream before it is given back unsent.
    public var waitSecondsMax: Int64 = 30
    /// How long APNs may take to answer.
    public var requestTimeoutSeconds: Int64 = 30
    /// How long a connection may take from the first packet to APNs' SETTINGS.
    public var connectTimeoutSeconds: Int64 = 15
    /// A connection without traffic for so long is asked for a sign of life.
    public var idlePingSeconds: Int64 = 60
    /// How long it may take to give one.
    public var pingTimeoutSeconds: Int64 = 10
    /// How long the last answers are waited for after a GOAWAY.
    public var drainGraceSeconds: Int64 = 20
    /// How often a push that APNs refused unprocessed is sent again before it is given back.
    public var resendsMax = 3
    /// 5xx answers in a row after which a connection is replaced.
    public var serverErrorsMax = 5
    public var token = ProviderTokenPolicy.Configuration()
    public var reconnect = ReconnectPolicy.Configuration()

    /// - Parameter authority: nil means APNs' own host of the environment.
    public init(environment: APNSEnvironment, key: ProviderKey, authority: String? = nil) {
        self.environment = environment
        self.key = key
        self.authority = authority ?? environment.pushHost
    }
}
