import CLinux
import Glibc
public import Threads

/// Returns the system's text for an `errno`.
func errorText(_ code: Int32) -> String {
    strerror(code).map { String(cString: $0) } ?? "error \(code)"
}

extension TransportError {
    public init(_ error: ThreadError) {
        self.init(.resources, error.message, underlying: error.code)
    }

    /// Creates the error for the `errno` of a failed call on the socket to `place`.
    init(errno code: Int32, _ place: String) {
        let kind: Code =
            switch code {
            case ECONNREFUSED: .refused
            case ETIMEDOUT: .timedOut
            case ECONNRESET, EPIPE, ECONNABORTED: .reset
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: .resources
            case EADDRINUSE, EADDRNOTAVAIL, EACCES: .addressUnavailable
            default: .unreachable
            }
        self.init(kind, "\(place): \(errorText(code))", underlying: code)
    }
}
