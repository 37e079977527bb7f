import Text

/// The cause of dead letters that belong together. Its texts are printable: they become parts of commands, and the
/// journal may be forged.
package struct DeadLetterCause: Sendable, Hashable {
    package var failureClass: String
    package var code: String
    package var app: String?
    /// A JSON pointer into the request.
    package var path: String?

    package init(failureClass: String, code: String, app: String?, path: String?) {
        self.failureClass = failureClass.printable
        self.code = code.printable
        self.app = app?.printable
        self.path = path?.printable
    }

    /// Results with these codes of the class `registration` have no dead letter.
    private static let codesWithoutDeadLetter = ["no_device", "gone"]

    /// Returns nil if the result has no dead letter.
    init?(_ result: ResultRecord) {
        guard let failure = result.failure else { return nil }
        if failure.failureClass == "registration", Self.codesWithoutDeadLetter.contains(failure.code) { return nil }
        self.init(failureClass: failure.failureClass, code: failure.code, app: result.app, path: failure.path)
    }

    /// The texts that identify the cause.
    var parts: [String] { [failureClass, code, app ?? "", path ?? ""] }
}

/// The counts of the dead letters with one cause.
package struct DeadLetterGroup: Sendable, Hashable {
    /// The number of the group, for a search of its samples.
    package var number: Int64
    package var cause: DeadLetterCause
    package var count: Int
    package var firstAt: Int64
    package var lastAt: Int64
    /// The counts of the last 24 hours, oldest first.
    package var hours: [Int]
}
