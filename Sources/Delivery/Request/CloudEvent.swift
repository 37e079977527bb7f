import AMQP
public import JSON
public import JSONSchema

/// Requests that come wrapped as events of CloudEvents 1.0 are refused like others that break the schema; what is to be
/// done about it is another thing.
public enum CloudEvent {
    /// The violation with what explains it, where the message is an event in structured mode (JSON format, section 3) or a
    /// batch of them (section 4).
    public static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        let advice: String
        if root["specversion"]?.kind == .string {
            advice = "publish what stands in its data, alone"
        } else if root.elements.first(where: { _ in true })?["specversion"]?.kind == .string {
            advice = "publish what stands in the data of each, as a message of its own"
        } else {
            return violation
        }
        var violation = violation
        violation.message += ", because this is a CloudEvents envelope: \(advice)"
        return violation
    }

    /// Whether the attributes of an event stand in its headers: binary mode (AMQP binding, section 3.1, with either prefix).
    static func hasAttributes(_ properties: MessageProperties) -> Bool {
        ["cloudEvents_specversion", "cloudEvents:specversion"].contains { properties.header($0) != nil }
    }
}
