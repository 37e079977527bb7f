/// A batch of commands that one transaction applies.
open class CommandBatch {
    /// Maximum number of commands in a batch.
    public static let commandsMax = 256

    public let commands: [RegistrationCommand]
    public let rules: RegistrationRules

    public init(_ commands: [RegistrationCommand], rules: RegistrationRules) {
        (self.commands, self.rules) = (commands, rules)
    }

    /// Receives the outcomes of the commands, in the order of the commands, after the changes are committed.
    open func completed(_ outcomes: [CommandOutcome]) { fatalError("completed must be overridden") }

    open func failed(_ fault: StoreFault) { fatalError("failed must be overridden") }
}

/// The reply to a command, and the events that the receiver of the batch must publish and then delete.
public struct CommandOutcome: Sendable, Hashable {
    public var reply: RegistrationReply
    public var events: [StoredEvent]

    public init(reply: RegistrationReply, events: [StoredEvent]) {
        (self.reply, self.events) = (reply, events)
    }
}
