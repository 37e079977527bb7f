public import EventLoop

/// What a pool says of its connections, for whoever judges the endpoint and writes the log.
public enum PoolEvent: Sendable, Hashable {
    /// A connection stands: APNs' SETTINGS came.
    case connected
    /// An attempt to connect has failed, and no connection of the pool stands. The error's code says whether a name was
    /// not resolved, nobody listens, nobody answers, or the certificate does not verify.
    ///
    /// `failures` counts the attempts since one succeeded, `since` is when the first of them began.
    case cannotConnect(TransportError, failures: Int, since: MonotonicTime)
    /// Who is there does not take the certificate; what becomes of pushes says so, too, where there were any.
    case certificateRefused(CertificateRefusal)
    /// The last connection that was up takes no more pushes or has ended. The pool did not leave it.
    ///
    /// `isIdle` is false if a push was in flight on it then.
    case lost(isIdle: Bool)
    /// A connection ended with a push in flight, and APNs had answered no push on it. The pool did not leave it. If
    /// no other connection is up, this event replaces ``lost``.
    ///
    /// `connections` counts those that ended so since the pool's last answer.
    case endedUnanswered(TransportError, connections: Int)
}
