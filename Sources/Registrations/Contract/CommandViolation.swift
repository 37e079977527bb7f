/// The reason why a command is invalid, for the developer of its producer.
public struct CommandViolation: Error, Sendable, Hashable {
    /// The class of a violation. Each name is also that of a class of invalid requests.
    public enum Class: String, CaseIterable, Sendable, Hashable {
        /// A missing or invalid property of the AMQP message.
        case property
        /// A body that is not JSON.
        case json
        /// A body that violates the schema.
        case schema
        /// A value that violates a limit that JSON Schema cannot express, or that the store refuses.
        case limit
        /// An app or environment that is not configured.
        case app
        /// A body that is too large.
        case size
    }

    public var violationClass: Class
    /// The code within the class, such as the code of a JSON error, a schema keyword, or the name of a member.
    public var code: String
    /// The JSON pointer to the invalid value, empty for the whole command; nil if the violation names no JSON value.
    public var path: String?
    /// One sentence. It quotes neither the token nor the user.
    public var sentence: String

    public init(_ violationClass: Class, _ code: String, path: String? = nil, _ sentence: String) {
        (self.violationClass, self.code, self.path, self.sentence) = (violationClass, code, path, sentence)
    }
}
