public import APNSProtocol

/// All that a pool of connections needs to know. A pool serves one environment and endpoint with one credential: a
/// connection to APNs belongs to its certificate, or to the team and key of its first push.
public struct PoolConfiguration: Sendable {
    public var environment: APNSEnvironment
    public var credential: Credential
    /// Value of `:authority`: the host's name.
    public var authority: String

    /// Connections that take requests at the same time. One more is opened for a push that has to be the first on its
    /// connection, and beside a connection whose first push stays without an answer.
    public var connectionsMax = 2
    /// A connection more than the load needs is left after a time between these, drawn anew for each: together they would
    /// all come back together.
    public var shrinkSecondsMin: Int64 = 300
    public var shrinkSecondsMax: Int64 = 600
    /// Requests open at once on one connection, if APNs allows as many.
    public var streamsMax = 1000
    /// Pushes that wait for a free stream, or for a connection of their own.
    public var waitingMax = 20_000
    /// How long a push waits for a free stream before it is given back unsent; less for one that expires sooner.
    public var waitSecondsMax: Int64 = 30
    /// How long a push waits for a provider token that is signed elsewhere, when the last is too old to be sent.
    public var tokenWaitSecondsMax: Int64 = 5
    /// How long APNs may take to answer; less for a push that expires sooner.
    public var requestTimeoutSeconds: Int64 = 30
    /// An answer is waited for so long even to a push that expires sooner: else one that APNs took in its last moment
    /// would be told as unknown.
    public var requestTimeoutSecondsMin: Int64 = 2
    /// Longest body of an answer that is taken.
    public var answerBytesMax = 16_384
    /// How long a connection's first push may stay without an answer before another connection is opened.
    public var probeAnswerSecondsMax: Int64 = 5
    /// Time for APNs' SETTINGS after the TLS handshake. The steps before have the limits of the connector's
    /// `ConnectOptions`.
    public var settingsTimeoutSeconds: Int64 = 8
    /// A connection without traffic for so long is asked for a sign of life.
    public var idlePingSeconds: Int64 = 60
    /// How long it may take to give one.
    public var pingTimeoutSeconds: Int64 = 10
    /// How long the last answers are waited for after a GOAWAY.
    public var drainGraceSeconds: Int64 = 20
    /// How long our own GOAWAY may take to leave after the grace.
    public var closeSecondsMax: Int64 = 2
    /// How often a push that APNs refused unprocessed is sent again before it is given back.
    public var resendsMax = 3
    /// Answers in a row that are 5xx, or not of APNs, after which a connection is replaced.
    public var serverErrorsMax = 5
    public var token = ProviderTokenPolicy.Configuration()
    public var reconnect = ReconnectPolicy.Configuration()

    /// - Parameter authority: nil means APNs' own host of the environment.
    public init(environment: APNSEnvironment, credential: Credential, authority: String? = nil) {
        self.environment = environment
        self.credential = credential
        self.authority = authority ?? environment.pushHost
    }

    public init(environment: APNSEnvironment, key: ProviderKey, authority: String? = nil) {
        self.init(environment: environment, credential: .key(key), authority: authority)
    }
}
