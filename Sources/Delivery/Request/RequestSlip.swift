import JSON
import JSONSchema

/// A common mistake in a request, which the schema's own sentence does not name.
enum RequestSlip {
    /// Names that other programs use for members of a request.
    private static let otherNames: KeyValuePairs = [
        "type": "push_type", "token": "device_token", "topic": "app", "bundle_id": "app", "apns_id": "id",
    ]

    /// The violation with what its producer probably meant.
    static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        var violation = violation
        if violation.keyword == "type", holdsJSON(root.at(pointer: violation.instancePointer)) {
            violation.message +=
                ", because it is JSON inside a string: write the object itself, without quotes around it"
            return violation
        }
        guard root.kind == .object else { return violation }
        if lacks("payload", violation, root) || violation.instancePointer == "/aps", root["aps"] != nil {
            return noted(violation, "aps belongs into payload")
        }
        for (other, own) in otherNames where root[key: own] == nil && root[key: other] != nil {
            if lacks(own, violation, root) || violation.instancePointer == "/\(other)" {
                return noted(violation, "\(other) is called \(own)")
            }
        }
        return violation
    }

    private static func lacks(_ name: String, _ violation: SchemaViolation, _ root: JSONValue) -> Bool {
        violation.instancePointer.isEmpty && violation.keyword == "required" && root[key: name] == nil
            && violation.message.contains(name)
    }

    /// In place of what is only spelled alike.
    private static func noted(_ violation: SchemaViolation, _ note: String) -> SchemaViolation {
        var violation = violation
        if let guess = violation.message.firstRange(of: " (did you mean") {
            violation.message.removeSubrange(guess.lowerBound...)
        }
        violation.suggestion = nil
        violation.message += "; \(note)"
        return violation
    }

    private static func holdsJSON(_ value: JSONValue?) -> Bool {
        value?.withUTF8 { text in text.first { $0 != 0x20 && !(0x09...0x0D ~= $0) } == UInt8(ascii: "{") } ?? false
    }
}
