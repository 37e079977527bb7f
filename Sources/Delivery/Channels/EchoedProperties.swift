import AMQP

/// What a reply gives back of its command, so that who asked knows it again.
struct EchoedProperties {
    let messageID: String?
    let correlationID: String?
    /// One of them is no text: it would come back as another, or be too long, after the command was carried out.
    let violation: RequestViolation?

    init(_ properties: MessageProperties) {
        var violation: RequestViolation?
        func whole(_ text: String?, _ name: String) -> String? {
            guard let text, text.hasReplacements else { return text }
            violation = RequestViolation(.property, name, "Nothing was done: \(name) has to be text in UTF-8.")
            return nil
        }
        messageID = whole(properties.messageID, "message-id")
        correlationID = whole(properties.correlationID, "correlation-id")
        self.violation = violation
    }
}

extension String {
    /// What a peer sends and is no UTF-8 is read so.
    var hasReplacements: Bool { unicodeScalars.contains("\u{FFFD}") }
}
