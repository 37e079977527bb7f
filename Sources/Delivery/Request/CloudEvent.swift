import AMQP
import Crypto
public import JSON
public import JSONSchema

/// The event of CloudEvents 1.0 that a request may come as: with the attributes around it in the body, and the request as
/// its `data` (structured mode; JSON format, section 3), or with them in the headers (binary mode; AMQP binding, section
/// 3.1, with either prefix).
///
/// A class: few messages have one, and the record of each has room for it.
public final class CloudEvent: Sendable {
    /// Before the name of an attribute.
    private static let headerPrefixes = ["cloudEvents_", "cloudEvents:"]
    private static let versionHeaders = headerPrefixes.map { $0 + "specversion" }

    /// Of a version that is repeated in words.
    private static let versionCharactersMax = 16

    private let version: String
    private let id: String?
    private let source: String?
    /// Of the extension for distributed tracing.
    let traceParent: String?
    let traceState: String?

    /// Structured mode; nil for a body that is no event.
    convenience init?(_ root: JSONValue) {
        self.init { name in root[key: name]?.string }
    }

    /// Binary mode; nil for a message that is no event, or one of another version, whose request stands for itself.
    convenience init?(_ properties: MessageProperties) {
        guard let mode = Self.versionHeaders.firstIndex(where: { properties.header($0) != nil }) else { return nil }
        self.init { properties.header(Self.headerPrefixes[mode] + $0)?.stringValue }
        guard isRead else { return nil }
    }

    private init?(_ attribute: (String) -> String?) {
        guard let version = attribute("specversion") else { return nil }
        self.version = version
        id = attribute("id")
        source = attribute("source")
        traceParent = attribute("traceparent")
        traceState = attribute("tracestate")
    }

    private var isRead: Bool { version.hasPrefix("1.") }

    /// What the request is known by when neither it nor the message says it: an id that is a UUID, else the UUIDv5 of
    /// source and id, which are unique together (CloudEvents, section 3.1).
    var requestID: UUIDValue? {
        guard let id, !id.isEmpty else { return nil }
        return UUIDValue(id) ?? RequestIdentity.of(messageID: "\(source ?? "") \(id)")
    }

    /// The request in a body: its `data` where it is an event of version 1.0, else all of it.
    public static func request(in root: JSONValue) -> JSONValue { CloudEvent(root)?.data(in: root) ?? root }

    /// nil: it has none, or is of another version.
    func data(in root: JSONValue) -> JSONValue? { isRead ? root["data"] : nil }

    /// The violation with what explains it, where the body is an event that is not read, a batch of events (JSON
    /// format, section 4), or a request with a common mistake.
    public static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        let reason: String
        if let event = CloudEvent(root), !event.isRead {
            reason =
                "events of CloudEvents 1.0 are read, and this is one of \(event.version.prefix(versionCharactersMax))"
        } else if CloudEvent(root) != nil, root["data"] == nil {
            let hint = root["data_base64"] == nil ? "" : "; data_base64 is not read"
            reason = "this event has no data, which would be the request\(hint)"
        } else if root.elements.first(where: { _ in true }).flatMap({ CloudEvent($0) }) != nil {
            reason = "this is a batch of CloudEvents: publish each as a message of its own"
        } else {
            return RequestSlip.explained(violation, in: root)
        }
        var violation = violation
        violation.message += ", because \(reason)"
        return violation
    }
}
