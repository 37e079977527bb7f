/// A batch of commands, and of ends from an export, that one transaction applies.
open class CommandBatch {
    /// Maximum number of commands and ends in a batch, except those of an import
    /// (``RegistrationWriter/importCommandsMax``). The caller applies the limit.
    public static let commandsMax = 256

    public let commands: [RegistrationCommand]
    /// The ends to restore after the commands.
    public let ends: [StoredEnd]
    public let rules: RegistrationRules

    public init(_ commands: [RegistrationCommand], ends: [StoredEnd] = [], rules: RegistrationRules) {
        (self.commands, self.ends, self.rules) = (commands, ends, rules)
    }

    /// The bundle IDs of the rows that the batch may insert.
    public var appsOfNewRows: Set<ByteText> {
        Set(commands.lazy.compactMap { $0.appOfNewRow?.exact }).union(ends.lazy.compactMap { $0.app?.exact })
    }

    /// Receives the outcomes of the commands and then of the ends, in their orders, after the changes are committed.
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
