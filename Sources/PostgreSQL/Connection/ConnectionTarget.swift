/// One address of a host to connect to.
struct ConnectionTarget: Sendable, Hashable {
    let host: PostgresHost
    /// The numeric address; nil for a Unix socket.
    let address: String?
}
