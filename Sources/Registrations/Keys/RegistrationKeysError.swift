/// An error about a key file. The message names the remedy, and never contains a part of a key.
public struct RegistrationKeysError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The file is missing or cannot be read.
        case unreadable
        /// Other users than the owner and its group can read the file, or others than the owner can change it.
        case exposed
        /// The file is not a key file.
        case malformed
    }

    public let code: Code
    /// A text for operators.
    public let message: String

    init(_ code: Code, _ message: String) {
        (self.code, self.message) = (code, message)
    }

    public var description: String { message }
}
