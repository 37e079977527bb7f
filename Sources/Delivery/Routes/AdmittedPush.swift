import EventLoop

/// A push that the breakers of its route admitted.
struct AdmittedPush: Sendable, Hashable {
    var route: Route
    var begunAt: MonotonicTime
    var isProbe = false
    /// Whether to send the push as the first push of a new connection. APNs binds a connection to the topics that were
    /// allowed when the connection began.
    var needsFreshConnection = false
}
