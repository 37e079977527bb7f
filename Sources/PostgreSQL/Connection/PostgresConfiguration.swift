/// The settings of a connection.
public struct PostgresConfiguration: Sendable {
    /// Time limits, and the delays between attempts to connect.
    public struct Limits: Sendable, Hashable {
        /// Maximum time of a statement, after which the server cancels it (`statement_timeout`). The default is below
        /// that of `answerMillisecondsMax`, so that a slow statement fails without closing the connection.
        public var statementMillisecondsMax = 1800
        /// Maximum time that a statement waits for a lock, before the server cancels the statement (`lock_timeout`).
        public var lockMillisecondsMax = 1000
        /// Maximum time that a transaction waits for its next statement, before the server closes the connection
        /// (`idle_in_transaction_session_timeout`).
        public var idleTransactionMillisecondsMax = 10_000
        /// Maximum time without bytes from the server while statements are in flight. After this time, the connection
        /// fails.
        public var answerMillisecondsMax = 2000
        /// Limit for connecting to one address, including TLS and login.
        public var connectMillisecondsMax = 2000
        /// Limit for resolving a host name. The name service may need 5 s to skip a dead name server.
        public var resolveMillisecondsMax = 10_000
        /// The least, first and longest delay before the next round of attempts. See ``Backoff``.
        public var retryMillisecondsMin = 100
        public var retryMilliseconds = 250
        public var retryMillisecondsMax = 5000
        /// Minimum time that a connection is ready before its loss resets the delay to the first one.
        public var healthyAfterSeconds = 30

        public init() {}
    }

    public var endpoints: PostgresEndpointList
    public var password: PostgresPasswordSource
    /// The prepared statements. `execute` expects an index into this array.
    public var statements: [PreparedStatement]
    /// Whether to refuse servers that accept no writes, as libpq does with `target_session_attrs=read-write`.
    public var requiresWrites = true
    /// The name in `pg_stat_activity`.
    public var applicationName = "martlet"
    public var limits = Limits()

    public init(
        endpoints: PostgresEndpointList, statements: [PreparedStatement],
        password: @escaping PostgresPasswordSource = { nil }
    ) {
        self.endpoints = endpoints
        self.statements = statements
        self.password = password
    }
}
