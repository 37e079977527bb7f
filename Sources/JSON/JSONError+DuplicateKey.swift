extension JSONError {
    private enum Container {
        /// An object, with the byte range of its latest key.
        case object(key: Range<Int>)
        case array(index: Int)
    }

    /// Returns the JSON pointer to the duplicate key, with escapes as written; nil for other errors.
    ///
    /// Scans the text again up to the key.
    ///
    /// - Parameter text: the parsed text.
    public func duplicateKeyPointer(in text: UnsafeRawBufferPointer) -> String? {
        guard code == .duplicateKey else { return nil }
        var open: [Container] = []
        var awaitsKey = false
        var place = 0
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                let start = place + 1
                place = start
                while place < text.count, text[place] != UInt8(ascii: "\"") {
                    place += text[place] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard place < text.count else { return nil }
                guard awaitsKey else { break }
                awaitsKey = false
                open[open.count - 1] = .object(key: start..<place)
                if place >= position.offset { return Self.pointer(open, text) }
            case UInt8(ascii: "{"):
                open.append(.object(key: 0..<0))
                awaitsKey = true
            case UInt8(ascii: "["): open.append(.array(index: 0))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = open.popLast()
                awaitsKey = false
            case UInt8(ascii: ","):
                switch open.last {
                case .array(let index)?: open[open.count - 1] = .array(index: index + 1)
                case .object?: awaitsKey = true
                case nil: return nil
                }
            default: break
            }
            place += 1
        }
        return nil
    }

    private static func pointer(_ open: [Container], _ text: UnsafeRawBufferPointer) -> String {
        open.map { container in
            switch container {
            case .array(let index): "/\(index)"
            case .object(let key):
                "/"
                    + String(decoding: text[key], as: UTF8.self).replacing("~", with: "~0").replacing("/", with: "~1")
            }
        }
        .joined()
    }
}
