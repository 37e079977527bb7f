import JSON
import JSONSchema

/// A common mistake in a request, which the schema's own sentence does not name.
enum RequestSlip {
    /// Names that other programs use for members of a request.
    private static let otherNames: KeyValuePairs = [
        "type": "push_type", "token": "device_token", "topic": "app", "bundle_id": "app", "apns_id": "id",
    ]

    /// The violation with what its producer probably meant.
    ///
    /// - Parameter root: the request. Pointers of one within an event begin at the event.
    static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        var violation = violation
        let place = place(of: violation, in: root)
        if violation.keyword == "type", holdsJSON(root.at(pointer: place)) {
            violation.message +=
                ", because it is JSON inside a string: write the object itself, without quotes around it"
            return violation
        }
        guard root.kind == .object else { return violation }
        func lacks(_ name: String) -> Bool {
            place.isEmpty && violation.keyword == "required" && root[key: name] == nil
                && violation.message.contains(name)
        }
        if lacks("payload") || place == "/aps", root["aps"] != nil {
            return noted(violation, "aps belongs into payload")
        }
        for (other, own) in otherNames where root[key: own] == nil && root[key: other] != nil {
            if lacks(own) || place == "/\(other)" {
                return noted(violation, "\(other) is called \(own)")
            }
        }
        return violation
    }

    /// JSON pointer in the request.
    private static func place(of violation: SchemaViolation, in root: JSONValue) -> String {
        let pointer = violation.instancePointer
        guard root["data"] == nil, pointer == eventData || pointer.hasPrefix(eventData + "/") else { return pointer }
        return String(pointer.dropFirst(eventData.count))
    }

    private static let eventData = "/data"

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
