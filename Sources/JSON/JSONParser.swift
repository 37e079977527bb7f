/// A parser of JSON texts (RFC 8259) that reuses its memory. Parsing allocates only if the memory must grow or shrink.
/// Beyond the rules of RFC 8259, keys must be unique in their object, and strings must be well-formed Unicode. Size and
/// depth have limits.
///
/// A parser belongs to one thread. Each lane has its own.
public final class JSONParser {
    public let limits: JSONLimits
    let tape = JSONTape()
    private let keys = DuplicateKeys()

    public init(limits: JSONLimits = JSONLimits()) {
        self.limits = limits
    }

    /// Parses a text in one pass, without recursion.
    ///
    /// The bytes are copied. The value, and all values reached from it, are valid until the next call. Later use is a
    /// defect of the caller and traps.
    public func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> JSONValue {
        guard text.count <= limits.bytesMax else {
            throw JSONError(
                code: .size, position: JSONPosition(offset: limits.bytesMax, in: text.bindMemory(to: UInt8.self)))
        }
        tape.prepare(text, limits: limits)
        try readDocument()
        return JSONValue(tape: tape, index: 0)
    }

    public func parse(_ text: [UInt8]) throws(JSONError) -> JSONValue {
        try text.withUnsafeBufferPointer { bytes throws(JSONError) in try parse(UnsafeRawBufferPointer(bytes)) }
    }

    private func readDocument() throws(JSONError) {
        let bytes = UnsafePointer(tape.bytes)
        var place = skipSpace(from: 0)
        guard place < tape.byteCount else { throw failure(.empty, at: place) }
        /// The node of the open container; -1 for none.
        var open = -1
        var depth = 0

        nextValue: while true {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                place = try readString(at: place)
            case UInt8(ascii: "{"):
                guard depth < limits.depthMax else { throw failure(.depth, at: place) }
                depth += 1
                open = openContainer(.object, at: place, inside: open)
                place = skipSpace(from: place + 1)
                if bytes[place] != UInt8(ascii: "}") {
                    place = try readKey(at: place)
                    tape.nodes[open].count = 1
                    continue nextValue
                }
            case UInt8(ascii: "["):
                guard depth < limits.depthMax else { throw failure(.depth, at: place) }
                depth += 1
                open = openContainer(.array, at: place, inside: open)
                place = skipSpace(from: place + 1)
                if bytes[place] != UInt8(ascii: "]") {
                    tape.nodes[open].count = 1
                    continue nextValue
                }
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                place = try readNumber(at: place)
            case UInt8(ascii: "t"):
                place = try readLiteral(at: place, "true", .boolean, value: 1)
            case UInt8(ascii: "f"):
                place = try readLiteral(at: place, "false", .boolean, value: 0)
            case UInt8(ascii: "n"):
                place = try readLiteral(at: place, "null", .null, value: 0)
            default:
                throw failure(.syntax, at: place, expecting: .value)
            }

            // A value is complete. The next character continues or closes its container, if there is one.
            while true {
                place = skipSpace(from: place)
                guard open >= 0 else {
                    guard place == tape.byteCount else { throw failure(.trailing, at: place, expecting: .end) }
                    return
                }
                let isObject = tape.nodes[open].kind == .object
                if bytes[place] == UInt8(ascii: ",") {
                    tape.nodes[open].count &+= 1
                    place = skipSpace(from: place + 1)
                    if isObject { place = try readKey(at: place) }
                    continue nextValue
                }
                guard bytes[place] == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw failure(.syntax, at: place, expecting: .separator)
                }
                place += 1
                if isObject, let duplicate = keys.firstDuplicate(in: open, of: tape) {
                    throw failure(.duplicateKey, at: tape.nodes[duplicate].start)
                }
                let parent = tape.nodes[open].link
                tape.nodes[open].end = UInt32(truncatingIfNeeded: place)
                tape.nodes[open].link = UInt32(truncatingIfNeeded: tape.nodeCount)
                open = Int(Int32(bitPattern: parent))
                depth -= 1
            }
        }
    }

    private func openContainer(_ kind: JSONKind, at place: Int, inside parent: Int) -> Int {
        let index = tape.nodeCount
        tape.append(
            JSONNode(kind, start: place, end: place, link: UInt32(bitPattern: Int32(truncatingIfNeeded: parent))))
        return index
    }

    /// Reads a key, its colon and the whitespace around the colon. Returns the position of the value.
    private func readKey(at start: Int) throws(JSONError) -> Int {
        guard tape.bytes[start] == UInt8(ascii: "\"") else { throw failure(.syntax, at: start, expecting: .key) }
        let place = skipSpace(from: try readString(at: start))
        guard tape.bytes[place] == UInt8(ascii: ":") else { throw failure(.syntax, at: place, expecting: .colon) }
        return skipSpace(from: place + 1)
    }

    private func readLiteral(
        at start: Int, _ word: StaticString, _ kind: JSONKind, value: UInt32
    ) throws(JSONError) -> Int {
        for offset in 0..<word.utf8CodeUnitCount where tape.bytes[start + offset] != word.utf8Start[offset] {
            throw failure(.syntax, at: start + offset)
        }
        let end = start + word.utf8CodeUnitCount
        tape.append(JSONNode(kind, start: start, end: end, count: value))
        return end
    }

    private func readNumber(at start: Int) throws(JSONError) -> Int {
        let bytes = UnsafePointer(tape.bytes)
        var place = start
        if bytes[place] == UInt8(ascii: "-") { place += 1 }
        if bytes[place] == UInt8(ascii: "0") {
            place += 1
        } else {
            place = try skipDigits(from: place)
        }
        let wholeEnd = place
        if bytes[place] == UInt8(ascii: ".") {
            place = try skipDigits(from: place + 1)
        }
        if bytes[place] | 0x20 == UInt8(ascii: "e") {
            place += 1
            if bytes[place] == UInt8(ascii: "+") || bytes[place] == UInt8(ascii: "-") { place += 1 }
            place = try skipDigits(from: place)
        }
        switch bytes[place] {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"):
            throw failure(.number, at: place)
        default:
            break
        }
        tape.append(JSONNode(.number, start: start, end: place, count: place == wholeEnd ? 1 : 0))
        return place
    }

    /// Skips digits, of which at least one is required. Returns the position after the digits.
    private func skipDigits(from start: Int) throws(JSONError) -> Int {
        var place = start
        while tape.bytes[place] &- UInt8(ascii: "0") < 10 { place += 1 }
        guard place > start else { throw failure(.number, at: place, expecting: .value) }
        return place
    }

    @inline(__always) private func skipSpace(from start: Int) -> Int {
        var place = start
        while true {
            switch tape.bytes[place] {
            case 0x20, 0x0A, 0x0D, 0x09: place &+= 1
            default: return place
            }
        }
    }

    /// Returns an error at `place`. The zeros after the text stop every scan. A failure at one of these zeros therefore
    /// means that the text ends too early.
    @inline(never) func failure(
        _ code: JSONError.Code, at place: Int, expecting expected: JSONExpectation? = nil
    ) -> JSONError {
        let ended = place >= tape.byteCount && code != .empty
        return JSONError(
            code: ended ? .truncated : code, position: JSONPosition(offset: place, in: tape.source),
            slip: ended ? nil : expected.flatMap { JSONSlip(at: place, in: tape.source, $0) })
    }
}
