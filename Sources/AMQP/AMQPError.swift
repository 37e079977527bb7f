import EventLoop

/// Why an operation on the broker failed, or why a connection to it ended.
public struct AMQPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Raw values are the codes of metrics.
    public enum Code: String, Sendable {
        /// The connection could not be opened, or the broker ended the login without a word.
        case cannotConnect = "cannot-connect"
        /// The connection was there and was lost.
        case connectionLost = "connection-lost"
        /// The broker did not answer in time, or fell silent for two heartbeats.
        case timedOut = "timed-out"
        /// The login was refused, or the user may not do this (403).
        case accessRefused = "access-refused"
        /// The virtual host, exchange or queue does not exist (404, or 530 for a virtual host).
        case notFound = "not-found"
        /// Somebody else uses the queue exclusively (405).
        case resourceLocked = "resource-locked"
        /// It exists with other arguments, an argument is wrong, or a delivery was acknowledged too late (406).
        case preconditionFailed = "precondition-failed"
        /// An operator closed the connection, or the broker shuts down (320).
        case connectionForced = "connection-forced"
        /// The broker ended the consumer: the queue was deleted or lost its leader.
        case consumerCancelled = "consumer-cancelled"
        /// The broker refused for another reason; `replyCode` and `message` hold its words.
        case refused
        /// What the peer sent is not AMQP 0-9-1 as it was agreed.
        case protocolViolation = "protocol-violation"
        /// Closed by this side.
        case closed
        /// The URL cannot be read.
        case invalidURL = "invalid-url"
    }

    /// What a reply of the broker names, as far as Martlet depends on it.
    public enum Detail: Sendable, Hashable {
        case missingQueue(String)
        case missingExchange(String)
        /// No plugin of the broker provides the type of an exchange.
        case unknownExchangeType
        /// An existing exchange or queue differs from its declaration in this argument, such as `x-max-length`.
        case inequivalentArgument(String)
        /// The broker does not accept the value of this argument.
        case invalidArgument(String)
        /// The user lacks a permission for this exchange or queue.
        case refusedResource(String)
        /// A delivery was unacknowledged for longer than RabbitMQ's `consumer_timeout`.
        case lateAcknowledgement
        /// A message carried another user than the one that the broker knows the connection by.
        case refusedUserID

        /// For an operator; nil if the broker's own text serves as well.
        fileprivate var message: String? {
            switch self {
            case .missingQueue(let name): "queue \(name) is missing"
            case .missingExchange(let name): "exchange \(name) is missing"
            case .unknownExchangeType, .inequivalentArgument, .invalidArgument, .refusedResource, .lateAcknowledgement,
                .refusedUserID:
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

    /// One word, since each outcome of a publish and each function that can throw has room for an error.
    private let box: Box

    public var code: Code { box.content.code }
    /// nil if the error did not come from the broker, or if its reply names nothing that Martlet depends on.
    public var detail: Detail? { box.content.detail }
    /// The broker's reply code (AMQP 0-9-1, section 1.2), 0 where the error did not come from it.
    public var replyCode: UInt16 { box.content.replyCode }
    /// What an operator can act on; holds no secret.
    public var message: String { box.content.message }
    /// Whether trying again later can help without somebody changing a configuration.
    public var isRetriable: Bool { box.content.isRetriable }

    private init(_ content: Content) {
        box = Box(content)
    }

    package init(_ code: Code, _ message: String, replyCode: UInt16 = 0, isRetriable: Bool = true) {
        self.init(Content(code: code, replyCode: replyCode, message: message, isRetriable: isRetriable))
    }

    /// The stream to the broker failed.
    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .timedOut: .timedOut
            case .notTLS: .protocolViolation
            default: .connectionLost
            }
        let remedy = error.code == .notTLS ? " Then write amqp://; otherwise use the port of AMQP with TLS (5671)." : ""
        self.init(code, error.message + remedy, isRetriable: error.isRetriable)
    }

    /// The broker closed a channel or the connection.
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
                // The next channel has no late acknowledgement, and messages go without the user ID.
                (.preconditionFailed, detail == .lateAcknowledgement || detail == .refusedUserID)
            case 530: (.notFound, false)
            default: (.refused, true)
            }
        self.init(
            Content(
                code: code, detail: detail, replyCode: replyCode, message: detail?.message ?? replyText,
                isRetriable: isRetriable))
    }

    /// The same error with another text, and maybe another code.
    func with(_ message: String, code: Code? = nil) -> AMQPError {
        var content = box.content
        content.message = message
        content.code = code ?? content.code
        return AMQPError(content)
    }

    public static func == (one: AMQPError, other: AMQPError) -> Bool { one.box.content == other.box.content }

    public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }

    /// Why a connection that needs so many channels cannot be used, and the remedy.
    public static func tooFewChannels(_ channelMax: some FixedWidthInteger, needed: Int) -> String {
        "the connection needs \(needed) channels and the broker allows \(channelMax): "
            + "set channel_max = \(needed) or more in rabbitmq.conf"
    }

    /// The argument in which a declaration differs from an existing object, or whose value the broker does not accept.
    public var refusedArgument: String? {
        switch detail {
        case .inequivalentArgument(let name), .invalidArgument(let name): name
        case .missingQueue, .missingExchange, .unknownExchangeType, .refusedResource, .lateAcknowledgement,
            .refusedUserID, nil:
            nil
        }
    }

    public var description: String {
        replyCode == 0 ? message : "\(message) (\(replyCode))"
    }
}
