/// A host, and the address at which to connect to it.
struct ConnectionTarget: Sendable, Hashable {
    let host: PostgresHost
    /// The numeric address; nil for a Unix socket.
    let address: String?
}
