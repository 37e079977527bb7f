import BrokerTopology

/// The destination of a reply: a consumer of RabbitMQ's direct reply-to, or a queue whose name has the configured
/// prefix.
///
/// Queues of this topology are not allowed. Otherwise, a client that may publish commands could write to these queues
/// with the rights of the worker's user.
struct ReplyAddress: Equatable {
    /// The broker's limit for names, in bytes.
    private static let bytesMax = 255

    let queue: String
    /// Whether the address is a consumer of direct reply-to and not a queue.
    var isDirect: Bool { queue.hasPrefix(DirectReplyTo.prefix) }

    /// Reads and validates the address of a command.
    ///
    /// - Parameters:
    ///   - replyTo: The `reply-to` property of the command.
    ///   - prefix: The prefix of the names of the allowed queues; nil if only direct reply-to is allowed.
    init(_ replyTo: String?, prefix: String?, _ names: TopologyNames) throws(RequestViolation) {
        guard let replyTo, !replyTo.isEmpty else {
            throw Self.violation("The command was not executed: reply-to is missing; set reply-to to receive a reply.")
        }
        let isAllowed = prefix.map { replyTo.hasPrefix($0) && !names.isOwn(replyTo) } ?? false
        let isDirect = replyTo.hasPrefix(DirectReplyTo.prefix)
        guard isDirect ? DirectReplyTo.isWellFormed(replyTo) : isAllowed, replyTo.utf8.count <= Self.bytesMax,
            !replyTo.hasReplacements
        else {
            let queues = prefix.map { " or a queue whose name begins with \($0)" } ?? ""
            throw Self.violation("The command was not executed: reply-to must be amq.rabbitmq.reply-to\(queues).")
        }
        queue = replyTo
    }

    private static func violation(_ sentence: String) -> RequestViolation {
        RequestViolation(.property, "reply-to", sentence)
    }
}
