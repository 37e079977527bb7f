public import JSON

/// Why a YAML text cannot be read.
public struct YAMLError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case empty
        /// It is not YAML at all.
        case syntax
        case duplicateKey = "duplicate_key"
        /// YAML that means nothing in JSON, or that is not wanted here: anchors, tags, keys that are no text, a second
        /// document.
        case unsupported
        case depth
        case size
    }

    public var code: Code
    /// Name of the file, if there is one.
    public var file: String?
    public var position: JSONPosition
    public var message: String

    /// `file:line:column: message`, which editors can jump to.
    public var description: String {
        (file.map { "\($0):" } ?? "") + "\(position.line):\(position.column): \(message)"
    }
}
