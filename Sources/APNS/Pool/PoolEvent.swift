public import EventLoop

/// A change of a pool's connections.
public enum PoolEvent: Sendable, Hashable {
    /// A connection that is up, because APNs' SETTINGS arrived.
    case connected
    /// A failed attempt to connect while no connection of the pool is up. The error's code distinguishes failures of
    /// name resolution, refused connections, timeouts and failures of certificate verification.
    ///
    /// `failures` counts the failed attempts since the last success or refusal of the certificate. `since` is the start
    /// of the first of these attempts.
    case cannotConnect(TransportError, failures: Int, since: MonotonicTime)
    /// A refusal of the certificate by the peer. Waiting pushes fail with the same reason.
    case certificateRefused(CertificateRefusal)
    /// The loss of the last connection that was up, by a GOAWAY or a close. The pool had not drained the connection.
    ///
    /// `isIdle` is false if a push was in flight on the connection.
    case lost(isIdle: Bool)
    /// The end of a connection with a push in flight and without any answered push. The pool had not drained the
    /// connection. If no other connection is up, this event replaces ``lost``. After a GOAWAY, this event follows
    /// ``lost``.
    ///
    /// `connections` counts the connections with such an end since the pool's last answer.
    case endedUnanswered(TransportError, connections: Int)
}
