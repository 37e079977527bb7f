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

    public var code: Code
    /// nil if the error did not come from the broker, or if its reply names nothing that Martlet depends on.
    public private(set) var detail: Detail?
    /// The broker's reply code (AMQP 0-9-1, section 1.2), 0 where the error did not come from it.
    public var replyCode: UInt16
    /// What an operator can act on; holds no secret.
    public var message: String
    /// Whether trying again later can help without somebody changing a configuration.
    public var isRetriable: Bool

    package init(_ code: Code, _ message: String, replyCode: UInt16 = 0, isRetriable: Bool = true) {
        self.code = code
        self.replyCode = replyCode
        self.message = message
        self.isRetriable = isRetriable
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
        self.init(code, detail?.message ?? replyText, replyCode: replyCode, isRetriable: isRetriable)
        self.detail = detail
    }

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
