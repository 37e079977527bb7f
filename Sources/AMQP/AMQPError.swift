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

    public var code: Code
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
        let (code, isRetriable): (Code, Bool) =
            switch replyCode {
            case 320: (.connectionForced, true)
            case 403: (.accessRefused, false)
            case 404: (.notFound, true)
            case 405: (.resourceLocked, true)
            case 406:
                (.preconditionFailed, Self.isLateAcknowledgement(replyText) || Self.isUserIDRefusal(replyText))
            case 530: (.notFound, false)
            default: (.refused, true)
            }
        let message = replyCode == 404 ? Self.missing(replyText) ?? replyText : replyText
        self.init(code, message, replyCode: replyCode, isRetriable: isRetriable)
    }

    /// Whether a delivery was unsettled for longer than RabbitMQ's `consumer_timeout`.
    private static func isLateAcknowledgement(_ replyText: String) -> Bool {
        replyText.hasPrefix("PRECONDITION_FAILED - delivery acknowledgement on channel ")
    }

    private static func isUserIDRefusal(_ replyText: String) -> Bool {
        replyText.hasPrefix("PRECONDITION_FAILED - user_id property set to ")
    }

    /// Whether a message carried another user than the one that the broker knows the connection by.
    var isUserIDRefusal: Bool { replyCode == 406 && Self.isUserIDRefusal(message) }

    /// Why a connection that needs so many channels cannot be used, and the remedy.
    public static func tooFewChannels(_ channelMax: some FixedWidthInteger, needed: Int) -> String {
        "the connection needs \(needed) channels and the broker allows \(channelMax): "
            + "set channel_max = \(needed) or more in rabbitmq.conf"
    }

    /// The exchange that is not there, where that is what is wrong.
    var missingExchange: String? {
        let (start, end) = ("exchange ", " is missing")
        guard replyCode == 404, message.hasPrefix(start), message.hasSuffix(end) else { return nil }
        return String(message.dropFirst(start.count).dropLast(end.count))
    }

    /// Whether the broker lacks the plugin that an exchange's type is of.
    public var isUnknownExchangeType: Bool { replyCode == 503 && message.contains("exchange type '") }

    /// `queue push.requests is missing` from RabbitMQ's `NOT_FOUND - no queue 'push.requests' in vhost '/'`; `nil` for
    /// other words: a queue whose node is down is not missing.
    private static func missing(_ replyText: String) -> String? {
        for what in ["queue", "exchange"] {
            let start = "NOT_FOUND - no \(what) '"
            guard replyText.hasPrefix(start) else { continue }
            let rest = replyText.dropFirst(start.count)
            guard let end = rest.ranges(of: "' in vhost '").last else { return nil }
            return "\(what) \(rest[..<end.lowerBound]) is missing"
        }
        return nil
    }

    public var description: String {
        replyCode == 0 ? message : "\(message) (\(replyCode))"
    }
}
