public import HTTP2

/// What became of a push. A reference, as it passes through many hands.
public indirect enum PushOutcome: Sendable, Hashable {
    /// An answer has come, whatever it said and whoever gave it.
    case answered(PushAnswer)
    /// APNs did not process it: it can be sent again, and no attempt counts.
    case notSent(NotSentReason)
    /// It was sent and no answer came: APNs may have processed it or not. With the number of its connection within the
    /// pool when nothing was ever accepted on that, as far as authentication goes.
    case unknown(UnknownReason, silentConnection: Int? = nil)
}

/// Why a push was not sent, or was refused unprocessed.
public enum NotSentReason: Sendable, Hashable, CustomStringConvertible {
    /// The pool takes no more: it was told to stop.
    case draining
    /// No connection could take it in time.
    case noConnection
    /// A connection took it, and could not write all of it in time: the peer reads nothing, or gives no window. With the
    /// number of the connection as in ``PushOutcome/unknown(_:silentConnection:)``.
    case notWritten(silentConnection: Int?)
    /// Too many pushes wait for a connection already.
    case overloaded
    /// APNs refused it unprocessed at every one of a few tries.
    case refused
    /// No provider token could be made.
    case noToken
    /// APNs does not take the certificate.
    case certificateRefused(CertificateRefusal)
    /// Its expiration passed while it waited in the pool.
    case expired
    /// A value cannot stand in a header: no hexadecimal token, or control characters. Sending it again is of no use.
    case malformed

    public var description: String {
        switch self {
        case .draining: "the connections were being closed"
        case .noConnection: "no connection could take it in time"
        case .notWritten: "its connection could not write it in time"
        case .overloaded: "too many wait for a connection already"
        case .refused: "APNs refused its stream several times"
        case .noToken: "no provider token could be made: look at the key and the clock"
        case .certificateRefused: "APNs does not take the certificate"
        case .expired: "it expired while it waited for a connection"
        case .malformed: "a value cannot stand in a header"
        }
    }
}

/// Why the outcome of a push is not known.
public enum UnknownReason: Sendable, Hashable, CustomStringConvertible {
    /// No answer within the time that a request may take.
    case timedOut
    /// The connection ended before the answer.
    case connectionLost
    /// The stream ended before the answer.
    case streamReset(HTTP2ErrorCode)

    public var description: String {
        switch self {
        case .timedOut: "no answer in time"
        case .connectionLost: "the connection was lost"
        case .streamReset(let code): "the stream was reset with \(code)"
        }
    }
}
