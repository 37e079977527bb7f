import AMQP
public import APNS
import APNSProtocol
import Crypto
import JSON
import JSONSchema

/// A channel command received over AMQP (`schemas/channel-command.schema.json`).
struct ChannelCommand {
    static let bytesMax = 16_384
    private static let limits = JSONLimits(bytesMax: bytesMax, depthMax: 8)

    let id: UUIDValue
    let app: String
    /// The environment of the channels; nil for the app's default environment.
    let environment: APNSEnvironment?
    let request: ChannelRequest

    /// Reads and validates a command.
    ///
    /// - Throws: The first violation. Its class and code are the same as for a request with this violation.
    init(_ delivery: IncomingMessage) throws(RequestViolation) {
        guard !delivery.isOversized else {
            throw RequestViolation(.size, "message_bytes", "The body is larger than \(Self.bytesMax) bytes.")
        }
        if let violation = ContentCoding.violation(of: delivery.properties.contentEncoding) { throw violation }
        let root = try Self.root(of: delivery.body)
        guard let id = RequestIdentity.of(body: root) ?? RequestIdentity.of(messageID: delivery.properties.messageID)
        else {
            throw RequestViolation.anonymous
        }
        self.id = id
        app = root["app"]?.string ?? ""
        environment = root["environment"]?.string.flatMap { APNSEnvironment(rawValue: $0) }
        let channel = root["channel_id"]?.string ?? ""
        // The schema guarantees the members that each command needs.
        request =
            switch root["command"]?.string {
            case "create": .create(root["storage_policy"]?.string.flatMap { .init(word: $0) } ?? .none)
            case "read": .read(channel)
            case "delete": .delete(channel)
            default: .list
            }
    }

    private static func root(of body: [UInt8]) throws(RequestViolation) -> JSONValue {
        let root: JSONValue
        do throws(JSONError) {
            root = try JSONDocument(body, limits: limits).root
        } catch {
            throw RequestViolation(error)
        }
        let validator = SchemaValidator(ContractSchemas.channelCommand)
        if let violation = validator.firstViolation(in: root) { throw RequestViolation(violation) }
        return root
    }
}

extension ChannelRequest.StoragePolicy {
    /// The value of `storage_policy` in commands and replies.
    public var word: String {
        switch self {
        case .none: "none"
        case .newest: "newest"
        }
    }

    /// Creates the policy from a value of `storage_policy`; nil if the value is unknown.
    public init?(word: String) {
        guard let policy = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = policy
    }
}

extension ChannelRequest {
    /// The value of `command` in commands and replies.
    public var word: String {
        switch self {
        case .create: "create"
        case .read: "read"
        case .delete: "delete"
        case .list: "list"
        }
    }
}
