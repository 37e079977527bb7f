internal import COpenSSL

/// An error about a key, a certificate or random numbers. The message states the problem and the expectation, and never
/// contains key material.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// The text is not PEM, is truncated, or contains another kind of block.
        case malformed
        /// The key is valid but not supported: another curve, or encrypted.
        case unsupported
        /// An invalid argument, such as a host name with a comma.
        case invalidArgument
        /// An OpenSSL function failed: out of memory, no entropy.
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
