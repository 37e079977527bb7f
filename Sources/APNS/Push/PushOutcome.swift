public import HTTP2

/// The outcome of a push. The type is indirect, so that functions pass outcomes on without copying.
public indirect enum PushOutcome: Sendable, Hashable {
    /// An answer by APNs or by a proxy.
    case answered(PushAnswer)
    /// A push that APNs did not process. The push does not count as an attempt, and sending it again causes no
    /// duplicate.
    case notSent(NotSentReason)
    /// A push that was sent and not answered. APNs may have processed the push. `silentConnection` is the number of
    /// its connection within the pool; nil if APNs had accepted the credential on that connection.
    case unknown(UnknownReason, silentConnection: Int? = nil)
}

/// The reason why a push was not sent, or was refused unprocessed.
public enum NotSentReason: Sendable, Hashable, CustomStringConvertible {
    /// A pool that accepts no more pushes.
    case draining
    /// No connection with a free stream in time.
    case noConnection
    /// A connection that could not write the whole push in time, because the peer does not read or grants no
    /// flow-control window. For `silentConnection`, see ``PushOutcome/unknown(_:silentConnection:)``.
    case notWritten(silentConnection: Int?)
    /// Too many waiting pushes.
    case overloaded
    /// A failure each time that the pool tried to send the push. APNs refused the push without processing it, or the
    /// connection ended before the push was written.
    case refused
    /// No usable provider token, because none could be signed in time.
    case noToken
    /// A refusal of the certificate by APNs.
    case certificateRefused(CertificateRefusal)
    /// The expiration of the push before it was sent.
    case expired
    /// A value that is not valid in a header, such as a device token with characters other than hexadecimal digits.
    /// Sending the request again does not help.
    case malformed

    public var description: String {
        switch self {
        case .draining: "the connections were closing"
        case .noConnection: "no connection was available in time"
        case .notWritten: "the connection could not write the request in time"
        case .overloaded: "too many requests wait for a connection"
        case .refused: "APNs refused the stream, or the connection ended, each time that the request was sent"
        case .noToken: "cannot sign a provider token; check the key and this machine's clock"
        case .certificateRefused: "APNs refused the certificate"
        case .expired: "the request expired before it was sent"
        case .malformed: "a value is not valid in an HTTP header"
        }
    }
}

/// The reason why the outcome of a push is unknown.
public enum UnknownReason: Sendable, Hashable, CustomStringConvertible {
    /// No answer within the request timeout.
    case timedOut
    /// The end of the connection before the answer.
    case connectionLost
    /// The end of the stream before the answer.
    case streamReset(HTTP2ErrorCode)

    public var description: String {
        switch self {
        case .timedOut: "the request timeout expired before APNs answered"
        case .connectionLost: "the connection was lost"
        case .streamReset(let code): "the stream was reset with \(code)"
        }
    }
}
