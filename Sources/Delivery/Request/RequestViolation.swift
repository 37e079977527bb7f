import APNSProtocol
import JSON
import JSONSchema

/// Why a message cannot become a notification, in words that its producer's developer can act on.
public struct RequestViolation: Error, Sendable, Hashable {
    /// What was wrong, broadly; the second word of a dead letter's routing key.
    public enum Class: String, Sendable, Hashable, CaseIterable {
        /// A property of the AMQP message: an encoding that nobody reads, no id.
        case property
        /// The body is not JSON.
        case json
        /// The body breaks the schema.
        case schema
        /// A limit that JSON Schema cannot say, such as bytes of UTF-8.
        case limit
        /// The app or environment is not configured here.
        case app
        /// The body is larger than `messageBytesMax` and was not kept.
        case size
    }

    public var violationClass: Class
    /// The third word of a dead letter's routing key: a JSON error's code, a schema keyword, a field's name.
    public var code: String
    /// JSON pointer to the value; `nil` when the whole message is meant.
    public var path: String?
    /// One sentence; holds no device token, and of the payload names of properties and what a schema names.
    public var sentence: String

    public init(_ violationClass: Class, _ code: String, path: String? = nil, _ sentence: String) {
        self.violationClass = violationClass
        self.code = code
        self.path = path
        self.sentence = sentence
    }
}

extension RequestViolation {
    /// With the path from the event's body on; what a schema says has it already.
    var inEvent: RequestViolation {
        guard violationClass == .limit || violationClass == .app else { return self }
        var violation = self
        violation.path = path.map { "/data" + $0 }
        return violation
    }

    /// A producer may have written a topic, which is a bundle ID with a suffix.
    ///
    /// - Parameter nearest: the configured bundle ID that is probably meant.
    static func unknownApp(_ name: String, nearest: String? = nil) -> RequestViolation {
        let suffix = PushType.allCases.map { "\($0.topicSuffix)" }.first { !$0.isEmpty && name.hasSuffix($0) }
        let hint =
            suffix.map { ": app goes without \($0), which push_type adds" }
            ?? nearest.map { ": did you mean \($0)?" } ?? ": correct app, or add it to apps of the configuration."
        return RequestViolation(
            .app, "unknown", path: "/app",
            "No app \(RedactedText.name(name)) is configured here\(hint)" + (suffix == nil ? "" : "."))
    }

    static var anonymous: RequestViolation {
        RequestViolation(
            .property, "message-id",
            "The message has no id: give it an \"id\" (a UUID) or an AMQP message-id, the same at every publish.")
    }

    /// - Parameter duplicate: JSON pointer to the key that an object has twice.
    init(_ error: JSONError, duplicate: String? = nil) {
        let place = "line \(error.position.line), column \(error.position.column)"
        let path = duplicate.map { RedactedText.pointer($0) }
        self.init(
            .json, error.code.rawValue, path: path,
            "The body is not JSON, at \(place): \(error.message)\(path.map { ", \($0)" } ?? "").")
    }

    init(_ violation: SchemaViolation) {
        let path = RedactedText.pointer(violation.instancePointer)
        self.init(.schema, violation.keyword, path: path, RedactedText.sentence(violation.sentence(of: path)))
    }

    static func unserved(topic: String, _ environment: APNSEnvironment) -> RequestViolation {
        RequestViolation(
            .app, "environment", path: "/environment",
            "No key or certificate here is for \(topic) in \(environment.rawValue).")
    }
}
