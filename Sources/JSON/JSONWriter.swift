import Text

/// A writer that appends JSON to bytes, including commas:
///
/// ```swift
/// var json = JSONWriter()
/// json.beginObject()
/// json.member("outcome", "accepted")
/// json.member("status", 200)
/// json.endObject()
/// ```
///
/// Control characters (C0, DEL, C1), format characters such as U+202E, and the separators of lines and paragraphs are
/// escaped, so strings are safe for terminals. Raw values are not changed, except by ``raw(escaping:)``.
///
/// The writer does not check the structure. The caller must match each `begin` with its `end` and each key with a
/// value.
public struct JSONWriter {
    public private(set) var bytes: [UInt8]
    /// Whether the next value or key needs a comma before it.
    private var followsValue = false

    public init(capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Creates a writer that appends to existing bytes.
    public init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// Empties the writer and keeps its memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        followsValue = false
    }
}

extension JSONWriter {
    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// Appends a key of an object.
    ///
    /// - Parameter key: a text without characters that the writer escapes.
    public mutating func key(_ key: StaticString) {
        assert(key.description.utf8.allSatisfy { !Self.isEscaped($0) })
        appendPlain(UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount), isKey: true)
        followsValue = false
    }

    public mutating func key(_ key: String) {
        string(key)
        endKey()
    }

    private mutating func endKey() {
        bytes.append(UInt8(ascii: ":"))
        followsValue = false
    }

    private mutating func open(_ bracket: UInt8) {
        beginValue()
        bytes.append(bracket)
        followsValue = false
    }

    private mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        followsValue = true
    }

    private mutating func beginValue() {
        if followsValue { bytes.append(UInt8(ascii: ",")) }
        followsValue = true
    }
}

extension JSONWriter {
    public mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { string(UnsafeRawBufferPointer($0), isPlain: Self.isPlain(UnsafeRawBufferPointer($0))) }
    }

    /// Appends a JSON string with the text `text`, which may be invalid UTF-8. Invalid sequences become U+FFFD.
    public mutating func string(utf8 text: UnsafeRawBufferPointer) {
        let isPlain = Self.isPlain(text)
        guard isPlain || text.allSatisfy({ $0 < 0x80 }) else { return string(String(decoding: text, as: UTF8.self)) }
        string(text, isPlain: isPlain)
    }

    private mutating func string(_ text: UnsafeRawBufferPointer, isPlain: Bool) {
        if isPlain {
            appendPlain(text, isKey: false)
        } else {
            beginValue()
            appendString(text)
        }
        followsValue = true
    }

    public mutating func int(_ value: Int64) {
        let comma = followsValue ? 1 : 0
        let sign = value < 0 ? 1 : 0
        let magnitude = value.magnitude
        let count = comma + sign + Self.digitCount(magnitude)
        appendBytes(count) { start in
            if comma == 1 { start[0] = UInt8(ascii: ",") }
            if sign == 1 { start[comma] = UInt8(ascii: "-") }
            var place = count
            var left = magnitude
            repeat {
                place &-= 1
                start[place] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: left % 10)
                left /= 10
            } while left > 0
        }
        followsValue = true
    }

    private static func digitCount(_ magnitude: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while count < 20, magnitude >= bound {
            count &+= 1
            bound &*= 10
        }
        return count
    }

    /// Appends a text that parses to the same number; null if the number is not finite.
    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        beginValue()
        bytes.append(contentsOf: value.description.utf8)
    }

    public mutating func bool(_ value: Bool) {
        beginValue()
        append(value ? "true" : "false")
    }

    public mutating func null() {
        beginValue()
        append("null")
    }

    /// Appends a complete JSON value, byte for byte.
    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    /// Appends members of an object that another writer has encoded, without the braces of the object.
    public mutating func members(encoded members: [UInt8]) { raw(members) }

    /// Appends a valid JSON value of another source, with control and format characters in its strings escaped.
    public mutating func raw(escaping json: [UInt8]) {
        beginValue()
        // A valid value contains C0 controls only as whitespace, which is not changed, and the other characters only in
        // strings.
        json.withUnsafeBytes { appendEscaped($0, escapesSyntax: false) }
    }

    public mutating func raw(_ json: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    private mutating func append(_ word: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// Appends a key or string that needs no escapes, including the comma, the quotes and the colon of a key. A fast
    /// path with a single append.
    private mutating func appendPlain(_ text: UnsafeRawBufferPointer, isKey: Bool) {
        let comma = followsValue ? 1 : 0
        appendBytes(comma + text.count + (isKey ? 3 : 2)) { place in
            if comma == 1 { place[0] = UInt8(ascii: ",") }
            place[comma] = UInt8(ascii: "\"")
            let start = place + comma + 1
            UnsafeMutableRawBufferPointer(start: start, count: text.count).copyMemory(from: text)
            start[text.count] = UInt8(ascii: "\"")
            if isKey { start[text.count + 1] = UInt8(ascii: ":") }
        }
    }

    private mutating func appendBytes(_ count: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Void) {
        bytes.append(addingCapacity: count) { span in
            span.withUnsafeMutableBufferPointer { room, initialized in
                guard let start = room.baseAddress else { return }
                write(start)
                initialized = count
            }
        }
    }

    private mutating func appendString(_ text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(text, escapesSyntax: true)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends valid UTF-8. Runs that need no escape are copied whole.
    ///
    /// - Parameter escapesSyntax: whether quotes, backslashes and C0 controls are escaped as well.
    private mutating func appendEscaped(_ text: UnsafeRawBufferPointer, escapesSyntax: Bool) {
        var copied = 0
        var place = 0
        while place < text.count {
            let scalar = Self.scalar(in: text, at: place)
            let next = place + UTF8.width(scalar)
            let isEscaped =
                scalar.isASCII
                ? Self.isEscaped(text[place]) && (escapesSyntax || scalar == "\u{7F}") : scalar.steersTerminal
            if isEscaped {
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied..<place]))
                appendEscape(scalar)
                copied = next
            }
            place = next
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied...]))
    }

    /// Returns the scalar that begins at `place` in valid UTF-8.
    private static func scalar(in text: UnsafeRawBufferPointer, at place: Int) -> Unicode.Scalar {
        let lead = text[place]
        guard lead >= 0x80 else { return Unicode.Scalar(lead) }
        let count = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
        let value = text[place + 1..<min(place + count, text.count)].reduce(UInt32(lead) & (0x7F >> UInt32(count))) {
            $0 << 6 | UInt32($1 & 0x3F)
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// Returns whether the text is ASCII and needs no escapes. Checks eight bytes at a time. The last check may overlap
    /// the previous one.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        let last = text.count - 8
        guard last >= 0 else { return text.allSatisfy { !isEscaped($0) && $0 < 0x80 } }
        for place in stride(from: 0, to: last, by: 8) where !isPlain(wordOf: text, at: place) { return false }
        return isPlain(wordOf: text, at: last)
    }

    private static func isPlain(wordOf text: UnsafeRawBufferPointer, at place: Int) -> Bool {
        let deletes: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
        let ones: UInt64 = 0x0101_0101_0101_0101
        let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        // The addition carries U+007F into the high bit. Non-ASCII bytes are already marked.
        return (JSONPlainText.marks(in: word) | (((word & deletes) &+ ones) & ~deletes)) == 0
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
    }

    private mutating func appendEscape(_ scalar: Unicode.Scalar) {
        switch scalar {
        case "\"": append("\\\"")
        case "\\": append("\\\\")
        case "\u{8}": append("\\b")
        case "\t": append("\\t")
        case "\n": append("\\n")
        case "\u{C}": append("\\f")
        case "\r": append("\\r")
        default: for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter { appendEscape(unit) }
        }
    }

    private mutating func appendEscape(_ unit: UInt16) {
        append("\\u")
        for shift in [12, 8, 4, 0] {
            let digit = UInt8(truncatingIfNeeded: unit >> UInt16(shift) & 15)
            bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
}

extension JSONWriter {
    public mutating func beginObject(_ name: StaticString) {
        key(name)
        beginObject()
    }

    public mutating func beginArray(_ name: StaticString) {
        key(name)
        beginArray()
    }

    public mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        int(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int) {
        key(name)
        int(Int64(value))
    }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }
}
