public import Crypto
import JSON

/// The id of a request. The pushes, the result and the dead letter of the request have the same id.
public enum RequestIdentity {
    /// Returns the `id` of the request if it is a UUID. Otherwise, returns the id of the AMQP message or, without it,
    /// the id of the event. Returns nil without any of these ids.
    ///
    /// - Parameter messageID: The `message-id` of the AMQP message. A UUID is used unchanged. Any other text is
    ///   replaced by its UUIDv5.
    public static func of(body: [UInt8], messageID: String?) -> UUIDValue? {
        let root = (try? JSONDocument(body))?.root
        return root.flatMap { of(body: CloudEvent.request(in: $0)) } ?? of(messageID: messageID)
            ?? root.flatMap { CloudEvent($0)?.requestID }
    }

    static func of(body root: JSONValue) -> UUIDValue? {
        root["id"]?.withUTF8 { UUIDValue($0) } ?? nil
    }

    package static func of(messageID: String?) -> UUIDValue? {
        guard let messageID, !messageID.isEmpty else { return nil }
        return UUIDValue(messageID) ?? UUIDValue(name: messageID, namespace: DeliveryRecord.namespace)
    }
}
