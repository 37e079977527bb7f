public import HTTP2

/// The outcome of a push. Indirect, since many functions pass it on.
public indirect enum PushOutcome: Sendable, Hashable {
    /// The push was answered, by APNs or by a proxy.
    case answered(PushAnswer)
    /// APNs did not process the push. It can be sent again, and does not count as an attempt.
    case notSent(NotSentReason)
    /// The push was sent and not answered. APNs may have processed it. `silentConnection` is the number of its connection
    /// within the pool, if APNs had not accepted the credential on that connection.
    case unknown(UnknownReason, silentConnection: Int? = nil)
}

/// The reason why a push was not sent, or was refused unprocessed.
public enum NotSentReason: Sendable, Hashable, CustomStringConvertible {
    /// The pool accepts no more pushes.
    case draining
    /// No connection had a free stream in time.
    case noConnection
    /// A connection could not write the whole push in time: the peer does not read, or grants no window. For
    /// `silentConnection`, see ``PushOutcome/unknown(_:silentConnection:)``.
    case notWritten(silentConnection: Int?)
    /// Too many pushes wait for a connection already.
    case overloaded
    /// APNs refused the push unprocessed each time the pool sent it.
    case refused
    /// No provider token could be signed.
    case noToken
    /// APNs refused the certificate.
    case certificateRefused(CertificateRefusal)
    /// The push expired while it waited in the pool.
    case expired
    /// A value is not valid in a header: a token with other than hexadecimal digits, or control characters. Sending the
    /// request again does not help.
    case malformed

    public var description: String {
        switch self {
        case .draining: "the connections were closing"
        case .noConnection: "no connection was available in time"
        case .notWritten: "the connection could not write the request in time"
        case .overloaded: "too many requests wait for a connection"
        case .refused: "APNs refused its stream several times"
        case .noToken: "no provider token could be signed; check the key and the clock"
        case .certificateRefused: "APNs refused the certificate"
        case .expired: "the request expired while it waited for a connection"
        case .malformed: "a value is not valid in an HTTP header"
        }
    }
}

/// The reason why the outcome of a push is unknown.
public enum UnknownReason: Sendable, Hashable, CustomStringConvertible {
    /// No answer arrived within the request timeout.
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
