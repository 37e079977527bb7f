/// An error about a key file. The message contains no part of a key.
public struct RegistrationKeysError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// A file that is missing, is not a regular file, or cannot be read.
        case unreadable
        /// A file whose permissions exceed 0640.
        case exposed
        /// A content that is not that of a valid key file.
        case malformed
        /// A change of the keys that is not possible.
        case invalidEdit
    }

    public let code: Code
    /// A text for operators.
    public let message: String

    init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    public var description: String { message }
}
