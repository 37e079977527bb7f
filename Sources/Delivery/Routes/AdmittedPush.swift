import EventLoop

/// A push that the breakers of its route let through.
struct AdmittedPush: Sendable, Hashable {
    var route: Route
    var begunAt: MonotonicTime
    var isProbe = false
    /// Whether to send the push as the first of a new connection: APNs binds a connection to the topics that were allowed
    /// when it began.
    var needsFreshConnection = false
}
