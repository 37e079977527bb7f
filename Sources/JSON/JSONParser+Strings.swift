extension JSONParser {
    /// Reads a string from its opening quote and appends its node. Returns the position after its closing quote.
    func readString(at start: Int) throws(JSONError) -> Int {
        let bytes = UnsafePointer(tape.bytes)
        var place = start + 1
        while true {
            place = Self.skipPlain(bytes, from: place)
            switch bytes[place] {
            case UInt8(ascii: "\""):
                let link = UInt32(truncatingIfNeeded: start + 1)
                let count = UInt32(truncatingIfNeeded: place - start - 1)
                tape.append(JSONNode(.string, start: start, end: place + 1, link: link, count: count))
                return place + 1
            case UInt8(ascii: "\\"):
                return try readEscapedString(at: start, firstEscape: place)
            case 0..<0x20:
                throw failure(.controlCharacter, at: place)
            default:
                place += try sequenceLength(at: place)
            }
        }
    }

    /// Reads a string with an escape at `firstEscape`, like `readString`. Decodes its text into the memory after the
    /// source.
    private func readEscapedString(at start: Int, firstEscape: Int) throws(JSONError) -> Int {
        let bytes = UnsafePointer(tape.bytes)
        let decodedStart = tape.decodedEnd
        append(from: start + 1, to: firstEscape)
        var place = firstEscape
        while true {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                let count = UInt32(truncatingIfNeeded: tape.decodedEnd - decodedStart)
                let link = UInt32(truncatingIfNeeded: decodedStart)
                tape.append(JSONNode(.string, start: start, end: place + 1, link: link, count: count))
                return place + 1
            case UInt8(ascii: "\\"):
                place = try decodeEscape(at: place)
            case 0..<0x20:
                throw failure(.controlCharacter, at: place)
            case 0x80...:
                let length = try sequenceLength(at: place)
                append(from: place, to: place + length)
                place += length
            default:
                let end = Self.skipPlain(bytes, from: place)
                append(from: place, to: end)
                place = end
            }
        }
    }

    private func append(from start: Int, to end: Int) {
        (tape.bytes + tape.decodedEnd).update(from: tape.bytes + start, count: end - start)
        tape.decodedEnd += end - start
    }

    private func append(_ byte: UInt8) {
        tape.bytes[tape.decodedEnd] = byte
        tape.decodedEnd += 1
    }

    /// Appends the character of one escape, or of both escapes of a surrogate pair, to the decoded text. Returns the
    /// position after these escapes.
    private func decodeEscape(at start: Int) throws(JSONError) -> Int {
        switch tape.bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): append(tape.bytes[start + 1])
        case UInt8(ascii: "b"): append(0x08)
        case UInt8(ascii: "f"): append(0x0C)
        case UInt8(ascii: "n"): append(0x0A)
        case UInt8(ascii: "r"): append(0x0D)
        case UInt8(ascii: "t"): append(0x09)
        case UInt8(ascii: "u"): return try decodeUnicodeEscape(at: start)
        default: throw failure(.escape, at: start + 1)
        }
        return start + 2
    }

    private func decodeUnicodeEscape(at start: Int) throws(JSONError) -> Int {
        var place = start + 2
        var value = try hexDigits(at: place)
        place += 4
        switch value {
        case 0xD800..<0xDC00:
            guard tape.bytes[place] == UInt8(ascii: "\\") else { throw halfPair(start, place) }
            guard tape.bytes[place + 1] == UInt8(ascii: "u") else { throw halfPair(start, place + 1) }
            let low = try hexDigits(at: place + 2)
            guard (0xDC00..<0xE000).contains(low) else { throw failure(.surrogate, at: start) }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
            place += 6
        case 0xDC00..<0xE000:
            throw failure(.surrogate, at: start)
        default:
            break
        }
        if value < 0x80 {
            append(UInt8(truncatingIfNeeded: value))
        } else {
            if value < 0x800 {
                append(0xC0 | UInt8(truncatingIfNeeded: value >> 6))
            } else {
                if value < 0x10000 {
                    append(0xE0 | UInt8(truncatingIfNeeded: value >> 12))
                } else {
                    append(0xF0 | UInt8(truncatingIfNeeded: value >> 18))
                    append(0x80 | UInt8(truncatingIfNeeded: value >> 12 & 0x3F))
                }
                append(0x80 | UInt8(truncatingIfNeeded: value >> 6 & 0x3F))
            }
            append(0x80 | UInt8(truncatingIfNeeded: value & 0x3F))
        }
        return place
    }

    /// Returns the error for the first half of a surrogate pair without the second half. The text may also have ended
    /// in between.
    private func halfPair(_ start: Int, _ place: Int) -> JSONError {
        place >= tape.byteCount ? failure(.truncated, at: place) : failure(.surrogate, at: start)
    }

    private func hexDigits(at start: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for place in start..<start + 4 {
            switch tape.bytes[place] {
            case let byte where byte &- UInt8(ascii: "0") < 10:
                value = value << 4 | UInt32(byte &- UInt8(ascii: "0"))
            case let byte where (byte | 0x20) &- UInt8(ascii: "a") < 6:
                value = value << 4 | UInt32((byte | 0x20) &- UInt8(ascii: "a") + 10)
            default:
                throw failure(.escape, at: place)
            }
        }
        return value
    }

    /// Returns the length of the UTF-8 sequence of the non-ASCII character at `place` (Unicode, table 3-7).
    private func sequenceLength(at place: Int) throws(JSONError) -> Int {
        let bytes = UnsafePointer(tape.bytes)
        let first = bytes[place]
        let second: ClosedRange<UInt8>
        let length: Int
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw failure(.utf8, at: place)
        }
        guard second.contains(bytes[place + 1]) else { throw cutSequence(place, place + 1) }
        for next in place + 2..<max(place + length, place + 2) where bytes[next] & 0xC0 != 0x80 {
            throw cutSequence(place, next)
        }
        return length
    }

    private func cutSequence(_ start: Int, _ place: Int) -> JSONError {
        place >= tape.byteCount ? failure(.truncated, at: place) : failure(.utf8, at: start)
    }

    /// Returns the first position of a quote, a backslash, a control character or a non-ASCII byte. Scans eight bytes
    /// at a time, and so reads up to eight of the zeros after the text.
    @inline(__always) private static func skipPlain(_ bytes: UnsafePointer<UInt8>, from start: Int) -> Int {
        var place = start
        while true {
            let word = UInt64(littleEndian: UnsafeRawPointer(bytes + place).loadUnaligned(as: UInt64.self))
            let marks = JSONPlainText.marks(in: word)
            if marks != 0 { return place &+ marks.trailingZeroBitCount >> 3 }
            place &+= 8
        }
    }
}
