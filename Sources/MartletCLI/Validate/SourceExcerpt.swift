import CommandKit
import JSON
import Text

/// The line of a text that contains a mistake, with a caret below the position.
enum SourceExcerpt {
    /// Returns two lines of at most `width` columns. A longer line is cut around the position.
    ///
    /// - Parameter reveals: whether to print complete device tokens.
    static func text(_ source: [UInt8], _ position: JSONPosition, width: Int, reveals: Bool = true) -> String {
        func shown(_ bytes: ArraySlice<UInt8>) -> String { DeadLetterText.shown(Self.shown(bytes), reveals: reveals) }
        let offset = min(max(position.offset, 0), source.count)
        let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
        let start = source[..<offset].lastIndex(where: isEnd).map { $0 + 1 } ?? 0
        let end = source[offset...].firstIndex(where: isEnd) ?? source.count
        // Four bytes per column suffice for almost every text.
        let reach = 4 * max(width, 1)
        let isCut = offset - start > reach
        let before = Array(shown(source[(isCut ? offset - reach : start)..<offset]))
        let after = shown(source[offset..<min(end, offset + reach)])
        let room = max(width * 2 / 3, 1)
        let isLong = before.columns > room || isCut
        let head = isLong ? "…" + String(before.reversed().fitting(room - 1).reversed()) : String(before)
        var line = head + after
        if line.columns > width { line = width > 0 ? String(Array(line).fitting(width - 1)) + "…" : "" }
        return "\(line)\n\(String(repeating: " ", count: head.columns))^"
    }

    /// Returns an excerpt as `text` does, but shows only the key of the line, because the value may be a secret.
    static func key(_ source: [UInt8], _ position: JSONPosition, width: Int) -> String {
        let offset = min(max(position.offset, 0), source.count)
        let isEnd = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
        let start = source[..<offset].lastIndex(where: isEnd).map { $0 + 1 } ?? 0
        let end = source[offset...].firstIndex(where: isEnd) ?? source.count
        let colon = source[start..<end].firstIndex(of: UInt8(ascii: ":"))
        let known = (colon.map { Array(source[start...$0]) } ?? []) + Array(" …".utf8)
        let place = JSONPosition(
            offset: min(offset - start, max(known.count - 3, 0)), line: 1, column: position.column)
        return text(known, place, width: width)
    }

    /// Returns the text without characters that would move the cursor by more than their width.
    private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).replacing("\t", with: " ").replacing("\r", with: "").printable
    }
}

extension [Character] {
    /// Returns the longest prefix that fits into the columns.
    fileprivate func fitting(_ columns: Int) -> ArraySlice<Character> {
        var left = columns
        return prefix { character in
            left -= character.columns
            return left >= 0
        }
    }
}
