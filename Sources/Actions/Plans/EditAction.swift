import Text

/// A request with a corrected body instead of a dead letter.
package struct EditAction: Sendable, Hashable {
    /// The id of the dead letter.
    package var id: String
    /// The time of the failure in UNIX milliseconds, if several dead letters have the id.
    package var failedAt: Int64?
    /// The corrected body.
    package var body: [UInt8]
    /// The body that the operator has corrected; nil if it is unknown. A dead letter with another body stays.
    package var original: [UInt8]?

    package init(id: String, failedAt: Int64?, body: [UInt8], original: [UInt8]? = nil) {
        (self.id, self.failedAt, self.body, self.original) = (id, failedAt, body, original)
    }

    /// The command that opens the body in an editor, without the options of the broker.
    var commandLine: String {
        "martlet dead-letters edit \(Shell.word(id))"
            + (failedAt.map { " --where \(Shell.word("failed_at == \($0)"))" } ?? "")
    }
}
