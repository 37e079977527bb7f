/// A removal of dead letters after their export to a file.
package struct DropAction: Sendable, Hashable {
    package var choice: DeadLetterSelection
    /// Maximum number of dead letters; nil without a limit.
    package var limit: Int?

    package init(_ choice: DeadLetterSelection, limit: Int? = nil) { (self.choice, self.limit) = (choice, limit) }

    /// The equivalent command, without the options of the broker.
    var commandLine: String {
        "martlet dead-letters drop \(choice.options)" + (limit.map { " --limit \($0)" } ?? "") + " --export dead.jsonl"
    }
}
