/// The reason why a command is invalid, with a remedy for the developer of its producer.
public struct CommandViolation: Error, Sendable, Hashable {
    /// The class of the violation, with the names of a request's classes.
    public enum Class: String, CaseIterable, Sendable, Hashable {
        /// A property of the AMQP message, such as a missing id.
        case property
        /// The body is not JSON.
        case json
        /// The body violates the schema.
        case schema
        /// A limit that JSON Schema cannot express: bytes of UTF-8, or a time relative to now.
        case limit
        /// The app or environment is not configured here.
        case app
        /// The body is too large.
        case size
    }

    public var violationClass: Class
    /// The code of a JSON error, a schema keyword, or the name of a member.
    public var code: String
    /// The JSON pointer to the value; nil for the whole command.
    public var path: String?
    /// One sentence. It contains no value of the command.
    public var sentence: String

    public init(_ violationClass: Class, _ code: String, path: String? = nil, _ sentence: String) {
        (self.violationClass, self.code, self.path, self.sentence) = (violationClass, code, path, sentence)
    }
}
