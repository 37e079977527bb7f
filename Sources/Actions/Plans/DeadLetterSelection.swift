package import DeadLetters
import Text

/// A choice of dead letters by a filter and by the time of their failure.
package struct DeadLetterSelection: Sendable, Hashable {
    package static let filterBytesMax = 4096

    /// The text of a valid filter; nil for every dead letter.
    package var filter: String?
    /// UNIX milliseconds. Later failures stay. nil without a limit.
    package var until: Int64?

    package init(filter: String? = nil, until: Int64? = nil) { (self.filter, self.until) = (filter, until) }

    /// The text of the filter with the limit; nil for every dead letter.
    package var text: String? {
        guard let until else { return filter }
        // A dead letter without a known time is not later.
        return ((filter.map { ["(\($0))"] } ?? []) + ["!(failed_at > \(until))"]).joined(separator: " && ")
    }

    /// Returns the choice.
    ///
    /// - Throws: the mistake in the filter.
    package func choice() throws(FilterError) -> DeadLetterChoice {
        var choice = DeadLetterChoice()
        if let text { choice.filter = try Filter(text) }
        return choice
    }

    /// The choice without the texts of the filter that the audit must not contain.
    var masked: DeadLetterSelection { DeadLetterSelection(filter: filter.map(FilterMask.masked), until: until) }

    /// The options of a command that chooses the same dead letters.
    var options: String { text.map { "--where \(Shell.word($0))" } ?? "--all" }
}
