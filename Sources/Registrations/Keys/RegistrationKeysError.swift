/// An error about a key file. The message contains no part of a key.
public struct RegistrationKeysError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The file is missing, is not a regular file, or cannot be read.
        case unreadable
        /// The permissions of the file exceed 0640.
        case exposed
        /// The content is not that of a valid key file.
        case malformed
        /// A change of the keys is not possible.
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
