import JSON
import JSONSchema

/// The detection of common mistakes in requests. The messages of schema violations do not name these mistakes.
enum RequestSlip {
    /// Names that other programs use for members of a request.
    private static let otherNames: KeyValuePairs = [
        "type": "push_type", "token": "device_token", "topic": "app", "bundle_id": "app", "apns_id": "id",
    ]

    /// Returns the violation with a hint at the probable mistake, or without a hint if no mistake is recognized.
    ///
    /// - Parameter root: The request. If the request is in an event, pointers of the violation begin at the event.
    static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        var violation = violation
        let place = place(of: violation, in: root)
        if violation.keyword == "type", holdsJSON(root.at(pointer: place)) {
            violation.message +=
                ", not a string that contains JSON: write the object without quotes around it"
            return violation
        }
        guard root.kind == .object else { return violation }
        func lacks(_ name: String) -> Bool {
            place.isEmpty && violation.keyword == "required" && root[key: name] == nil
                && violation.message.contains(name)
        }
        if lacks("payload") || place == "/aps", root["aps"] != nil {
            return annotated(violation, "aps belongs in payload")
        }
        if let remedy = AudienceSlip.remedy(for: violation, at: place, in: root) { return annotated(violation, remedy) }
        for (other, own) in otherNames where root[key: own] == nil && root[key: other] != nil {
            if lacks(own) || place == "/\(other)" {
                return annotated(violation, "use \(own) instead of \(other)")
            }
        }
        return violation
    }

    /// Returns the JSON pointer to the invalid value, relative to the request.
    private static func place(of violation: SchemaViolation, in root: JSONValue) -> String {
        let pointer = violation.instancePointer
        guard root["data"] == nil, pointer == eventData || pointer.hasPrefix(eventData + "/") else { return pointer }
        return String(pointer.dropFirst(eventData.count))
    }

    private static let eventData = "/data"

    /// Appends a note, which replaces a spelling suggestion.
    private static func annotated(_ violation: SchemaViolation, _ note: String) -> SchemaViolation {
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
