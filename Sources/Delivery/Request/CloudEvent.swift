import AMQP
import Crypto
public import JSON
public import JSONSchema

/// A CloudEvents 1.0 event that contains a request.
///
/// In structured mode, the body has the attributes, and the request as `data` (JSON format, section 3). In binary mode,
/// the body is the request, and the headers have the attributes, with one of two prefixes (AMQP binding, section 3.1).
///
/// A class, so that a record without an event stores only an empty reference.
public final class CloudEvent: Sendable {
    /// The prefixes of attribute names in headers.
    private static let headerPrefixes = ["cloudEvents_", "cloudEvents:"]
    private static let versionHeaders = headerPrefixes.map { $0 + "specversion" }

    /// The maximum number of characters that an error message repeats from an unsupported version.
    private static let versionCharactersMax = 16

    private let version: String
    private let id: String?
    private let source: String?
    /// The attribute `traceparent` of the distributed tracing extension.
    let traceParent: String?
    let traceState: String?

    /// Reads an event in structured mode; nil if the body is not an event.
    convenience init?(_ root: JSONValue) {
        self.init { name in root[key: name]?.string }
    }

    /// Reads an event in binary mode; nil if the message is not an event, or is an event of an unsupported version. A
    /// worker reads the body of an event of an unsupported version as a plain request.
    convenience init?(_ properties: MessageProperties) {
        guard let mode = Self.versionHeaders.firstIndex(where: { properties.header($0) != nil }) else { return nil }
        self.init { properties.header(Self.headerPrefixes[mode] + $0)?.stringValue }
        guard isSupported else { return nil }
    }

    private init?(_ attribute: (String) -> String?) {
        guard let version = attribute("specversion") else { return nil }
        self.version = version
        id = attribute("id")
        source = attribute("source")
        traceParent = attribute("traceparent")
        traceState = attribute("tracestate")
    }

    private var isSupported: Bool { version.hasPrefix("1.") }

    /// The id for a request if neither the request nor the message has an id. The id is the event's id if that is a
    /// UUID, otherwise the UUIDv5 of the event's source and id. Source and id are unique together (CloudEvents, section
    /// 3.1). nil if the event's id is missing or empty.
    var requestID: UUIDValue? {
        guard let id, !id.isEmpty else { return nil }
        return UUIDValue(id) ?? RequestIdentity.of(messageID: "\(source ?? "") \(id)")
    }

    /// Returns the request in a body. It is the `data` of a supported event, or the whole body if there is no such
    /// data.
    public static func request(in root: JSONValue) -> JSONValue { CloudEvent(root)?.data(in: root) ?? root }

    /// Returns the data of the event; nil if the event has no data or an unsupported version.
    func data(in root: JSONValue) -> JSONValue? { isSupported ? root["data"] : nil }

    /// Returns the violation, with an explanation if a mistake is recognized. The recognized mistakes are events of an
    /// unsupported version, events without data, batches of events (JSON format, section 4), and common mistakes in
    /// requests.
    public static func explained(_ violation: SchemaViolation, in root: JSONValue) -> SchemaViolation {
        let reason: String
        if let event = CloudEvent(root), !event.isSupported {
            reason =
                "only CloudEvents 1.0 is supported, and the event has version "
                + "\(event.version.prefix(versionCharactersMax))"
        } else if CloudEvent(root) != nil, root["data"] == nil {
            let hint = root["data_base64"] == nil ? "" : "; data_base64 is not supported"
            reason = "the event has no data, which must be the request\(hint)"
        } else if root.elements.first(where: { _ in true }).flatMap({ CloudEvent($0) }) != nil {
            reason = "the body is a batch of CloudEvents: publish each event as a separate AMQP message"
        } else {
            return RequestSlip.explained(violation, in: root)
        }
        var violation = violation
        violation.message += ", because \(reason)"
        return violation
    }
}
