/// A place in a text. Lines and columns count from 1; a column is a Unicode scalar, as most editors count them.
public struct JSONPosition: Sendable, Hashable {
    /// Bytes before the place.
    public var offset: Int
    public var line: Int
    public var column: Int

    public init(offset: Int, line: Int, column: Int) {
        self.offset = offset
        self.line = line
        self.column = column
    }

    /// Counts the lines before `offset`; an offset outside of the text counts as its nearest end.
    package init(offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.init(offset: 0, line: 1, column: 1)
        advance(to: offset, in: text)
    }

    /// Goes on to a place further on in the text.
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

/// Why a text is not JSON as RFC 8259 means it, or is beyond a limit. It never holds a part of the text.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The raw values are part of the contract: they end up in the routing keys of dead letters.
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
    /// What the writer probably took JSON for.
    public var slip: JSONSlip?

    public init(code: Code, position: JSONPosition, slip: JSONSlip? = nil) {
        self.code = code
        self.position = position
        self.slip = slip
    }

    /// What is wrong, for the developer of the program that wrote the text.
    public var message: String {
        if let slip { return slip.message }
        return switch code {
        case .empty: "there is no JSON value, the text is empty"
        case .truncated: "the text ends in the middle of a JSON value"
        case .syntax: "this character cannot stand here in JSON"
        case .number: "this is not a number as JSON writes it (no leading zero or plus, digits around the point)"
        case .escape: "unknown escape in a string: JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX"
        case .surrogate: "a \\u escape is half of a surrogate pair without its other half"
        case .utf8: "the bytes are not UTF-8"
        case .controlCharacter: "a control character in a string must be escaped"
        case .duplicateKey: "the object has this key already"
        case .trailing: "there is something after the JSON value"
        case .depth: "arrays and objects are nested deeper than the limit"
        case .size: "the text is longer than the limit"
        }
    }

    public var description: String { "\(position.line):\(position.column): \(message)" }
}
