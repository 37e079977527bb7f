/// The position of a row, which is also the cursor of a page.
package struct HistoryPosition: Sendable, Hashable, CustomStringConvertible {
    var segment: Int
    var row: Int64

    init(segment: Int, row: Int64) {
        self.segment = segment
        self.row = row
    }

    /// Reads the text of a position; nil for another text.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let segment = Int(parts[0]), let row = Int64(parts[1]), segment > 0, row > 0 else {
            return nil
        }
        self.init(segment: segment, row: row)
    }

    package var description: String { "\(segment).\(row)" }
}
