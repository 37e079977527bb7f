/// Appends JSON to bytes, commas included:
///
/// ```swift
/// var json = JSONWriter()
/// json.beginObject()
/// json.member("outcome", "accepted")
/// json.member("status", 200)
/// json.endObject()
/// ```
///
/// It checks nothing: that each `begin` has its `end` and each key its value is up to the caller.
public struct JSONWriter {
    public private(set) var bytes: [UInt8]
    /// The next value or key needs a comma before it.
    private var followsValue = false

    public init(capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Goes on behind what is there already, which is left as it is.
    public init(appendingTo bytes: consuming [UInt8]) {
        self.bytes = bytes
    }

    /// Starts anew in the same memory.
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

    /// - Parameter key: of characters that JSON takes as they are.
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

    /// Text in UTF-8 from anywhere; what is not UTF-8 becomes U+FFFD.
    public mutating func string(utf8 text: UnsafeRawBufferPointer) {
        let isPlain = Self.isPlain(text, isASCII: true)
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

    /// The shortest text that reads back as the same number; null for one that JSON cannot write.
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

    /// A JSON value that is written already, byte for byte.
    public mutating func raw(_ json: UnsafeRawBufferPointer) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    public mutating func raw(_ json: [UInt8]) {
        beginValue()
        bytes.append(contentsOf: json)
    }

    private mutating func append(_ word: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
    }

    /// A string that is written as it is, with what stands around it, in one step: most are.
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

    /// Runs of plain bytes are copied whole.
    private mutating func appendString(_ text: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        var copied = 0
        for place in 0..<text.count {
            let byte = text[place]
            guard Self.isEscaped(byte) else { continue }
            bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied..<place]))
            appendEscape(byte)
            copied = place + 1
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[copied...]))
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing of it needs an escape, and all of it is ASCII where that is asked; eight bytes at a time.
    private static func isPlain(_ text: UnsafeRawBufferPointer, isASCII: Bool = false) -> Bool {
        var place = 0
        while place + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // Bytes of other scripts are no escapes.
            guard JSONPlainText.marks(in: word) & (isASCII ? ~0 : ~word) == 0 else { return false }
            place += 8
        }
        return text[place...].allSatisfy { !isEscaped($0) && (!isASCII || $0 < 0x80) }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        default:
            append("\\u00")
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
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
