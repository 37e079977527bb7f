/// The path and query of a request line. Each part is percent-decoded separately (RFC 3986), so an encoded `/` or `&`
/// stays within its part.
struct RequestTarget: Sendable {
    private(set) var path: [String] = []
    private(set) var query: [(name: String, value: String)] = []

    /// Creates the target `/`.
    init() {}

    /// Creates a target from its text. Returns nil unless the text begins with `/`, its percent-escapes are valid, and
    /// every part is UTF-8 after decoding.
    init?(_ text: some Sequence<UInt8>) {
        let parts = Array(text).split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.first == UInt8(ascii: "/") else { return nil }
        if first.count > 1 {
            for segment in first.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                guard let segment = Self.decoded(segment) else { return nil }
                path.append(segment)
            }
        }
        guard parts.count > 1 else { return }
        for pair in parts[1].split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                // Forms encode a space as +.
                .map { $0.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 } }
            guard let name = Self.decoded(sides[0][...]), let value = Self.decoded(sides.count > 1 ? sides[1][...] : [])
            else { return nil }
            query.append((name, value))
        }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
