internal import COpenSSL

/// An error about a key, a certificate or random numbers. The message states the problem and the expectation, and never
/// contains key material.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// A text that is not PEM, is truncated, or contains another kind of block.
        case malformed
        /// A valid key that is not supported: it is encrypted, or on another curve.
        case unsupported
        /// An invalid argument, such as a host name with a comma.
        case invalidArgument
        /// A failure of an OpenSSL function, without memory or entropy.
        case failed
    }

    public let code: Code
    /// A text for operators.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Adds OpenSSL's reason from this thread's error queue to the message, and empties the queue. Call it in the same
    /// synchronous function as the failed call.
    package init(_ code: Code, drainingOpenSSLAfter message: String) {
        let reason = OpenSSLErrors.drain()
        self.init(code, reason.map { "\(message) (\($0.text))" } ?? message)
    }

    public var description: String { message }
}
