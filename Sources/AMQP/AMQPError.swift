import EventLoop

/// The reason why an operation at the broker failed or a connection was lost.
public struct AMQPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of a failure. In metrics, the raw value is the code of an error without a reply code.
    public enum Code: String, Sendable {
        /// A failed connection attempt, or the loss of the stream during the login.
        case cannotConnect = "cannot-connect"
        /// The loss of an open connection, or an operation without an open connection.
        case connectionLost = "connection-lost"
        /// A timeout of a connection attempt, an answer or a publish, or a full publish queue. Also a broker that sends
        /// no byte for two heartbeat timeouts, leaves output unread, or refuses every publish.
        case timedOut = "timed-out"
        /// A refused login, or a missing permission of the user (403).
        case accessRefused = "access-refused"
        /// An exchange or queue that does not exist, or a queue whose node is down (404). Also a virtual host that does
        /// not exist or does not admit the user (530).
        case notFound = "not-found"
        /// A queue that another connection uses exclusively, or an exclusive declaration of a queue that is not
        /// exclusive (405).
        case resourceLocked = "resource-locked"
        /// An object that exists with other arguments, an object in use, or an invalid argument (406). Also a late
        /// acknowledgment, a stream without a replica on the node, or a refused user ID (406). Also a name or arguments
        /// that are too long to send.
        case preconditionFailed = "precondition-failed"
        /// A close of the connection by an operator, or by a broker that is shutting down (320).
        case connectionForced = "connection-forced"
        /// The cancellation of a consumer by the broker, because the queue was deleted or lost its leader.
        case consumerCancelled = "consumer-cancelled"
        /// A refusal for another reason, which `message` contains.
        case refused
        /// A violation of AMQP 0-9-1 or of the agreed limits by the peer, or a peer that does not use TLS.
        case protocolViolation = "protocol-violation"
        /// A close by this side.
        case closed
        /// A URL that cannot be parsed, or whose virtual host or credentials are too long.
        case invalidURL = "invalid-url"
    }

    /// The part of the broker's reply text on which Martlet depends.
    public enum Detail: Sendable, Hashable {
        case missingQueue(String)
        case missingExchange(String)
        /// An exchange type that the broker does not support because a plugin is missing.
        case unknownExchangeType
        /// An argument, such as `x-max-length`, in which an existing exchange or queue differs from its declaration.
        case inequivalentArgument(String)
        /// An argument whose value the broker does not accept.
        case invalidArgument(String)
        /// An exchange or queue for which the user lacks a permission.
        case refusedResource(String)
        /// A delivery that stayed unacknowledged longer than RabbitMQ's `consumer_timeout`.
        case lateAcknowledgment
        /// A stream without a replica on the node of this connection.
        case missingReplica
        /// A user ID of a message that differs from the user of the connection.
        case refusedUserID

        /// The message for an operator. nil means that the broker's reply text is the message.
        fileprivate var message: String? {
            switch self {
            case .missingQueue(let name): "queue \(name) is missing"
            case .missingExchange(let name): "exchange \(name) is missing"
            case .unknownExchangeType, .inequivalentArgument, .invalidArgument, .refusedResource, .lateAcknowledgment,
                .missingReplica, .refusedUserID:
                nil
            }
        }
    }

    private struct Content: Sendable, Hashable {
        var code: Code
        var detail: Detail?
        var replyCode: UInt16
        var message: String
        var isRetriable: Bool
    }

    private final class Box: Sendable {
        let content: Content

        init(_ content: Content) { self.content = content }
    }

    /// The content, boxed to keep the error at one word. Every publish outcome and every throwing function reserves
    /// space for an error.
    private let box: Box

    public var code: Code { box.content.code }
    /// The detail of the reply text. nil if the error does not come from the broker, or if Martlet does not depend on
    /// this reply text.
    public var detail: Detail? { box.content.detail }
    /// The broker's reply code (AMQP 0-9-1, section 1.2); 0 if the error has none.
    public var replyCode: UInt16 { box.content.replyCode }
    /// The message for an operator, which contains no secrets.
    public var message: String { box.content.message }
    /// Whether a later attempt can succeed without a change of the configuration.
    public var isRetriable: Bool { box.content.isRetriable }

    private init(_ content: Content) {
        box = Box(content)
    }

    package init(_ code: Code, _ message: String, replyCode: UInt16 = 0, isRetriable: Bool = true) {
        self.init(Content(code: code, replyCode: replyCode, message: message, isRetriable: isRetriable))
    }

    /// Creates the error for a failed stream to the broker.
    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .timedOut: .timedOut
            case .notTLS: .protocolViolation
            default: .connectionLost
            }
        let remedy =
            error.code == .notTLS
            ? "; write amqp:// for a connection without TLS, or use the AMQP port with TLS (5671)" : ""
        self.init(code, error.message + remedy, isRetriable: error.isRetriable)
    }

    /// Creates the error for a channel or connection that the broker closed.
    init(_ close: ServerMethod.Close) {
        self.init(replyCode: close.replyCode, replyText: String(wire: close.replyText))
    }

    init(replyCode: UInt16, replyText: String) {
        let detail = ReplyText.detail(code: replyCode, text: replyText)
        let (code, isRetriable): (Code, Bool) =
            switch replyCode {
            case 320: (.connectionForced, true)
            case 403: (.accessRefused, false)
            case 404: (.notFound, true)
            case 405: (.resourceLocked, true)
            case 406:
                // A retry can succeed. The next channel has no late acknowledgment, and later messages carry no user
                // ID. A replica can start, or exist on the next node.
                (
                    .preconditionFailed,
                    detail == .lateAcknowledgment || detail == .refusedUserID || detail == .missingReplica
                )
            case 530: (.notFound, false)
            default: (.refused, true)
            }
        self.init(
            Content(
                code: code, detail: detail, replyCode: replyCode, message: detail?.message ?? replyText,
                isRetriable: isRetriable))
    }

    /// Returns the error with another message and, optionally, another code.
    func with(_ message: String, code: Code? = nil) -> AMQPError {
        var content = box.content
        content.message = message
        content.code = code ?? content.code
        return AMQPError(content)
    }

    public static func == (one: AMQPError, other: AMQPError) -> Bool { one.box.content == other.box.content }

    public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }

    /// Returns the reason why a connection with too few channels cannot be used, and the remedy.
    public static func tooFewChannels(_ channelMax: some FixedWidthInteger, needed: Int) -> String {
        "the connection needs \(needed) channels and the broker allows \(channelMax); "
            + "set channel_max = \(needed) or more in rabbitmq.conf"
    }

    /// The argument in which a declaration differs from an existing object, or whose value the broker does not accept;
    /// nil for other errors.
    public var refusedArgument: String? {
        switch detail {
        case .inequivalentArgument(let name), .invalidArgument(let name): name
        case .missingQueue, .missingExchange, .unknownExchangeType, .refusedResource, .lateAcknowledgment,
            .missingReplica, .refusedUserID, nil:
            nil
        }
    }

    public var description: String {
        replyCode == 0 ? message : "\(message) (\(replyCode))"
    }
}
