/// The reason why a change of the fleet's pauses is refused.
package struct PauseViolation: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, CaseIterable {
        case scope
        case by
        case why
        case since
        case until
        /// The record contains the same pause.
        case alreadyPaused = "already_paused"
        /// The record contains no pause of the scope.
        case notPaused = "not_paused"
        /// The record contains the maximum number of pauses.
        case tooManyPauses = "too_many_pauses"
        /// The record would be too large.
        case tooLarge = "too_large"
        /// The record has the maximum revision.
        case lastRevision = "last_revision"
    }

    package let code: Code
    /// A sentence for the operator, without a final period.
    package let sentence: String

    init(_ code: Code, _ sentence: String) { (self.code, self.sentence) = (code, sentence) }

    package var description: String { sentence }
}
