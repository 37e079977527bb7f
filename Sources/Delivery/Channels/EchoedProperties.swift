import AMQP

/// The properties of a command that its reply repeats, so that the requester can match the reply.
struct EchoedProperties {
    let messageID: String?
    let correlationID: String?
    /// The violation of a property that is not UTF-8 or contains U+FFFD; nil if both properties are valid. The reply to
    /// an executed command could not repeat such a property unchanged.
    let violation: RequestViolation?

    init(_ properties: MessageProperties) {
        var violation: RequestViolation?
        func validated(_ text: String?, _ name: String) -> String? {
            guard let text, text.hasReplacements else { return text }
            violation = RequestViolation(.property, name, "The command was not executed: \(name) must be UTF-8 text.")
            return nil
        }
        messageID = validated(properties.messageID, "message-id")
        correlationID = validated(properties.correlationID, "correlation-id")
        self.violation = violation
    }
}

extension String {
    /// Whether the text contains U+FFFD, which replaces bytes of a peer that are not UTF-8.
    var hasReplacements: Bool { unicodeScalars.contains("\u{FFFD}") }
}
