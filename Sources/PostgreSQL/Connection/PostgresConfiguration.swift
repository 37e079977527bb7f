/// The settings of a connection.
public struct PostgresConfiguration: Sendable {
    /// Time limits, and the delays between attempts to connect.
    public struct Limits: Sendable, Hashable {
        /// The server cancels a statement after this time (`statement_timeout`). The default is below that of
        /// `answerMillisecondsMax`, so that a slow statement fails without closing the connection.
        public var statementMillisecondsMax = 1800
        /// The server cancels a statement that waits this long for a lock (`lock_timeout`).
        public var lockMillisecondsMax = 1000
        /// The server closes a connection whose transaction waits this long for the next statement
        /// (`idle_in_transaction_session_timeout`).
        public var idleTransactionMillisecondsMax = 10_000
        /// The connection fails if statements are in flight and the server sends nothing for this time.
        public var answerMillisecondsMax = 2000
        /// Limit for connecting to one address, including TLS and login.
        public var connectMillisecondsMax = 2000
        /// Limit for resolving a host name. The name service may need 5 s to skip a dead name server.
        public var resolveMillisecondsMax = 10_000
        /// The least, first and longest delay before the next round of attempts; see ``Backoff``.
        public var retryMillisecondsMin = 100
        public var retryMilliseconds = 250
        public var retryMillisecondsMax = 5000
        /// The loss of a connection that was ready for at least this time resets the delay to the first one.
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
