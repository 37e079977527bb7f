import BrokerTopology

/// Where the reply to a command may go: straight back to who asked (RabbitMQ's direct reply-to), or to a queue whose name
/// begins as the configuration allows. Never to a queue of this topology: whoever may publish commands could write into
/// it what the worker's user may.
struct ReplyAddress: Equatable {
    /// The broker's own limit for names.
    private static let bytesMax = 255

    let queue: String
    /// Not a queue, but a consumer that is there or has gone.
    var isDirect: Bool { queue.hasPrefix(DirectReplyTo.prefix) }

    /// - Parameters:
    ///   - replyTo: as the command has it.
    ///   - prefix: of the queues that are allowed; nil: none are.
    init(_ replyTo: String?, prefix: String?, _ names: TopologyNames) throws(RequestViolation) {
        guard let replyTo, !replyTo.isEmpty else {
            throw Self.violation("Nothing was done: a command has a reply-to, or nobody would know what became of it.")
        }
        let isAllowed = prefix.map { replyTo.hasPrefix($0) && !names.isOwn(replyTo) } ?? false
        let isDirect = replyTo.hasPrefix(DirectReplyTo.prefix)
        guard isDirect ? DirectReplyTo.isWellFormed(replyTo) : isAllowed, replyTo.utf8.count <= Self.bytesMax,
            !replyTo.hasReplacements
        else {
            let queues = prefix.map { " or a queue whose name begins with \($0)" } ?? ""
            throw Self.violation("Nothing was done: reply-to has to be amq.rabbitmq.reply-to\(queues).")
        }
        queue = replyTo
    }

    private static func violation(_ sentence: String) -> RequestViolation {
        RequestViolation(.property, "reply-to", sentence)
    }
}
