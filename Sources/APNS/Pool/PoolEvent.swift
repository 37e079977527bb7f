public import EventLoop

/// A change of a pool's connections.
public enum PoolEvent: Sendable, Hashable {
    /// A connection is up: APNs' SETTINGS arrived.
    case connected
    /// An attempt to connect failed, and no connection of the pool is up. The error's code distinguishes failures of name
    /// resolution, refused connections, timeouts and failures of certificate verification.
    ///
    /// `failures` counts the failed attempts since the last success; `since` is the start of the first of them.
    case cannotConnect(TransportError, failures: Int, since: MonotonicTime)
    /// The peer refused the certificate. Waiting pushes fail with the same reason.
    case certificateRefused(CertificateRefusal)
    /// The last connection that was up received a GOAWAY or was closed. The pool had not drained it.
    ///
    /// `isIdle` is false if a push was in flight on it.
    case lost(isIdle: Bool)
    /// A connection ended with a push in flight, and APNs had answered no push on it. The pool had not drained it. If no
    /// other connection is up, this event replaces ``lost``.
    ///
    /// `connections` counts such connections since the pool's last answer.
    case endedUnanswered(TransportError, connections: Int)
}
