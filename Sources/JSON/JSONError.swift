/// A position in a text. Lines and columns start at 1. Columns count Unicode scalars.
public struct JSONPosition: Sendable, Hashable {
    /// The number of bytes before the position.
    public var offset: Int
    public var line: Int
    public var column: Int

    public init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// Creates the position of `offset`, which is clamped to the text.
    package init(offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.init(offset: 0, line: 1, column: 1)
        advance(to: offset, in: text)
    }

    /// Advances to a later position in the text.
    mutating func advance(to place: Int, in text: UnsafeBufferPointer<UInt8>) {
        let end = min(max(place, offset), text.count)
        for byte in text[offset..<end] {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        offset = end
    }
}

/// The reason why a parser rejects a text. Contains no part of the text.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of an error. The raw values are contract names, because the routing keys of dead letters contain
    /// them.
    public enum Code: String, Sendable, CaseIterable {
        case empty
        case truncated
        case syntax
        case number
        case escape
        case surrogate
        case utf8
        case controlCharacter = "control_character"
        case duplicateKey = "duplicate_key"
        case trailing
        case depth
        case size
    }

    public var code: Code
    public var position: JSONPosition
    /// The probable mistake in the text; nil if the error matches no common mistake.
    public var slip: JSONSlip?

    public init(code: Code, position: JSONPosition, slip: JSONSlip? = nil) {
        self.code = code
        self.position = position
        self.slip = slip
    }

    /// A description for the developer of the program that wrote the text.
    public var message: String {
        if let slip { return slip.message }
        return switch code {
        case .empty: "the text is empty"
        case .truncated: "the text ends in the middle of a JSON value"
        case .syntax: "unexpected character"
        case .number:
            "invalid number: JSON allows no leading zero or plus, and requires digits around a point and after an e"
        case .escape: "invalid escape in a string; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX"
        case .surrogate: "a \\u escape is half of a surrogate pair, and the other half is missing"
        case .utf8: "the bytes are not UTF-8"
        case .controlCharacter: "a control character in a string must be escaped"
        case .duplicateKey: "the object already has this key"
        case .trailing: "unexpected text after the JSON value"
        case .depth: "arrays and objects are nested deeper than the limit"
        case .size: "the text is longer than the limit"
        }
    }

    public var description: String { "\(position.line):\(position.column): \(message)" }
}
