public import Crypto
import JSON

/// By what a request is known to APNs, in its result and in its dead letter.
public enum RequestIdentity {
    /// The request's `id` if that is a UUID, else the message's, else that of the event that the request came in.
    ///
    /// - Parameter messageID: of the AMQP message; a UUID as it is, anything else as its UUIDv5.
    public static func of(body: [UInt8], messageID: String?) -> UUIDValue? {
        let root = (try? JSONDocument(body))?.root
        return root.flatMap { of(body: CloudEvent.request(in: $0)) } ?? of(messageID: messageID)
            ?? root.flatMap { CloudEvent($0)?.requestID }
    }

    static func of(body root: JSONValue) -> UUIDValue? {
        root["id"]?.withUTF8 { UUIDValue($0) } ?? nil
    }

    static func of(messageID: String?) -> UUIDValue? {
        guard let messageID, !messageID.isEmpty else { return nil }
        return UUIDValue(messageID) ?? UUIDValue(name: messageID, namespace: DeliveryRecord.namespace)
    }
}
