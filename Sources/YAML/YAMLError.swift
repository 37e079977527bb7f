public import JSON

/// The reason why a YAML text cannot be read.
public struct YAMLError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable {
        case empty
        /// A text that is not YAML.
        case syntax
        case duplicateKey = "duplicate_key"
        /// YAML that JSON cannot express or that is not allowed. Examples are anchors, aliases, tags outside the core
        /// schema, and tags that do not match their value. Further examples are numbers that are not finite, keys that
        /// are not scalars, and several documents.
        case unsupported
        case depth
        case size
    }

    public var code: Code
    /// The file name; nil if unknown.
    public var file: String?
    public var position: JSONPosition
    public var message: String

    /// `file:line:column: message`, a format that editors understand.
    public var description: String {
        (file.map { "\($0):" } ?? "") + "\(position.line):\(position.column): \(message)"
    }
}
