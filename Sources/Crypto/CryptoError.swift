internal import COpenSSL

/// Why a key, a certificate or a random number could not be had. The message names what was wrong and what is wanted;
/// it never holds key material.
public struct CryptoError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable, Equatable {
        /// The text is no PEM, is cut off, or holds something other than what was asked for.
        case malformed
        /// A whole and valid thing of a kind that is not used here: another curve, an encrypted key.
        case unsupported
        /// An argument that cannot be used, such as a host name with a comma.
        case invalidArgument
        /// OpenSSL could not do its part: out of memory, no entropy.
        case failed
    }

    public let code: Code
    /// For an operator.
    public let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Takes OpenSSL's own reason from this thread's error queue and leaves the queue empty.
    /// To be called in the same synchronous function as the call that failed.
    package init(_ code: Code, drainingOpenSSLAfter message: String) {
        let reason = OpenSSLErrors.drain()
        self.init(code, reason.map { "\(message) (\($0.text))" } ?? message)
    }

    public var description: String { message }
}
