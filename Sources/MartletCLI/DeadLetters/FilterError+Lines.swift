import DeadLetters
import JSON
import Text

extension FilterError {
    /// Returns lines for an operator: the position and message, and the filter with a caret below the position.
    func lines(of source: String, width: Int) -> [String] {
        let bytes = Array(source.utf8)
        let position = bytes.withUnsafeBufferPointer { JSONPosition(offset: offset, in: $0) }
        return ["--where:\(position.line):\(position.column): \(message)".printable]
            + SourceExcerpt.text(bytes, position, width: width).split(separator: "\n").map { String($0) }
    }
}
