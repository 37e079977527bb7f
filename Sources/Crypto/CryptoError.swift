internal import COpenSSL

/// An error about keys, certificates, encryption, hashes or random numbers. The message never contains key material.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// An unreadable or inconsistent input, such as a text that is not PEM, a wrong passphrase, or a key without
        /// a certificate.
        case malformed
        /// A valid key that is not supported, such as an encrypted key or a key on another curve.
        case unsupported
        /// An invalid argument, such as a host name with a comma.
        case invalidArgument
        /// A failure of an OpenSSL function, for example without memory or entropy.
        case failed
    }

    public let code: Code
    /// A text for operators.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates an error from the message and OpenSSL's reason in this thread's error queue, and empties the queue.
    /// Call the initializer in the same synchronous function as the failed call.
    package init(_ code: Code, drainingOpenSSLAfter message: String) {
        let reason = OpenSSLErrors.drain()
        self.init(code, reason.map { "\(message): \($0.text)" } ?? message)
    }

    public var description: String { message }
}
