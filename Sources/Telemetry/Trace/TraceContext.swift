/// A position in the producer's trace (W3C Trace Context, `traceparent`).
public struct TraceContext: Sendable, Hashable {
    /// Length of a `traceparent` of version 00, in bytes.
    private static let length = 55

    public var traceIDHigh: UInt64
    public var traceIDLow: UInt64
    public var spanID: UInt64
    /// The sampling decision, from the `sampled` flag.
    public var isSampled: Bool

    public init(traceIDHigh: UInt64, traceIDLow: UInt64, spanID: UInt64, isSampled: Bool) {
        self.traceIDHigh = traceIDHigh
        self.traceIDLow = traceIDLow
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Parses a `traceparent`. Returns nil if the text is invalid according to the specification. Reads only the fields
    /// of version 00, also in a text of a later version.
    public init?(traceParent text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= Self.length, bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"),
            bytes[52] == UInt8(ascii: "-"), let version = Self.number(bytes[0..<2]), version != 0xFF,
            bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-"),
            let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high | low != 0,
            let span = Self.number(bytes[36..<52]), span != 0, let flags = Self.number(bytes[53..<55])
        else { return nil }
        self.init(traceIDHigh: high, traceIDLow: low, spanID: span, isSampled: flags & 1 == 1)
    }

    /// Returns the value of lower-case hexadecimal digits; nil for other characters, which the specification forbids.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return number
    }

    public var traceParent: String { "00-\(traceID)-\(Self.hex(spanID))-\(isSampled ? "01" : "00")" }

    /// The trace ID as 32 hexadecimal digits.
    public var traceID: String { Self.hex(traceIDHigh) + Self.hex(traceIDLow) }

    /// Returns the number as 16 hexadecimal digits.
    public static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
