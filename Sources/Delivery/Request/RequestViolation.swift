import APNSProtocol
import JSON
import JSONSchema

/// The reason why a request is invalid, with a remedy for the developer of its producer.
public struct RequestViolation: Error, Sendable, Hashable {
    /// The class of the violation, and the second word of a dead letter's routing key.
    public enum Class: String, Sendable, Hashable, CaseIterable {
        /// A property of the AMQP message, such as an unsupported encoding or a missing id.
        case property
        /// A body that the JSON parser rejects.
        case json
        /// A body that violates the contract's schema, or a payload that violates the schema of its app.
        case schema
        /// A limit that JSON Schema cannot express, such as bytes of UTF-8.
        case limit
        /// An app or environment that is not configured here.
        case app
        /// A body that is larger than `messageBytesMax` and was dropped.
        case size
        /// A request to users that needs registrations, which are not available here.
        case registration
    }

    public var violationClass: Class
    /// The third word of a dead letter's routing key. It is the code of a JSON error, a schema keyword, the name of a
    /// field, or a word such as `unknown`.
    public var code: String
    /// The JSON pointer to the invalid value; nil if no pointer to a value is known.
    public var path: String?
    /// The violation and its remedy, for the developer. The sentence contains no device token. Of the payload, it
    /// contains only names of properties and values of a schema.
    public var sentence: String

    public init(_ violationClass: Class, _ code: String, path: String? = nil, _ sentence: String) {
        self.violationClass = violationClass
        self.code = code
        self.path = path
        self.sentence = sentence
    }
}

extension RequestViolation {
    /// The violation with its path relative to the event. Paths of schema violations are already relative to the event.
    var inEvent: RequestViolation {
        guard [.limit, .app, .registration].contains(violationClass) else { return self }
        var violation = self
        violation.path = path.map { "/data" + $0 }
        return violation
    }

    /// Returns the violation for an app that is not configured. Detects a topic, which is a bundle ID with a suffix.
    ///
    /// - Parameter nearest: The most similar configured bundle ID; nil if none is similar.
    static func unknownApp(_ name: String, nearest: String? = nil) -> RequestViolation {
        let suffix = PushType.allCases.map { "\($0.topicSuffix)" }.first { !$0.isEmpty && name.hasSuffix($0) }
        let hint =
            suffix.map { ": remove \($0) from app; push_type adds the suffix" }
            ?? nearest.map { ": did you mean \($0)?" }
            ?? ": correct the member app, or add the app under apps in the configuration."
        return RequestViolation(
            .app, "unknown", path: "/app",
            "No app \(RedactedText.name(name)) is configured here\(hint)" + (suffix == nil ? "" : "."))
    }

    static var anonymous: RequestViolation {
        RequestViolation(
            .property, "message-id",
            "The message has no id: set \"id\" (a UUID) or the AMQP message-id, the same at every publish.")
    }

    /// Creates the violation of a body that the JSON parser rejects.
    ///
    /// - Parameter duplicate: The JSON pointer to a duplicate key of an object; nil for any other error.
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

    /// Returns the violation of a request to users where no registrations are configured.
    ///
    /// - Parameter isList: Whether the request has the member `users` instead of `user`.
    static func registrationsNotConfigured(isList: Bool) -> RequestViolation {
        let member = isList ? "users" : "user"
        return RequestViolation(
            .registration, "not_configured", path: "/\(member)",
            "\(member) needs device registrations, which are not configured here: set device_token instead, or add "
                + "registrations to the configuration.")
    }

    static func unserved(topic: String, _ environment: APNSEnvironment) -> RequestViolation {
        RequestViolation(
            .app, "environment", path: "/environment",
            "No key or certificate is configured for \(topic) in \(environment.rawValue): correct environment, or add a key "
                + "or certificate to the configuration.")
    }
}
