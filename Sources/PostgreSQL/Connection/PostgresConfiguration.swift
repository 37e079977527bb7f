/// The settings of a connection.
public struct PostgresConfiguration: Sendable {
    /// Time limits of the server and of this side.
    public struct Limits: Sendable, Hashable {
        /// The server cancels a statement after this time (`statement_timeout`). Shorter than `answerMillisecondsMax`,
        /// so that a slow statement fails alone instead of closing the connection.
        public var statementMillisecondsMax = 1800
        /// The server cancels a statement that waits this long for a lock (`lock_timeout`).
        public var lockMillisecondsMax = 1000
        /// The server closes a connection whose transaction waits this long for the next statement
        /// (`idle_in_transaction_session_timeout`).
        public var idleTransactionMillisecondsMax = 10_000
        /// Closes the connection if statements are in flight and no response arrives for this time.
        public var answerMillisecondsMax = 2000
        /// Limit for connecting to one address, with TLS and login.
        public var connectMillisecondsMax = 2000
        /// Limit for resolving a host name. The name service may need 5 s to skip a dead name server.
        public var resolveMillisecondsMax = 10_000
        /// Delay before the next attempt after a failure: least, first and longest; see ``Backoff``.
        public var retryMillisecondsMin = 100
        public var retryMilliseconds = 250
        public var retryMillisecondsMax = 5000
        /// A connection that was ready for this time begins again with the first delay.
        public var healthyAfterSeconds = 30

        public init() {}
    }

    public var endpoints: PostgresEndpointList
    public var password: PostgresPasswordSource
    /// Sent with `execute` by index.
    public var statements: [PreparedStatement]
    /// Whether a server that accepts no writes is refused (`target_session_attrs=read-write`).
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
