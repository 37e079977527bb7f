/// A URI or relative reference, by its parts (RFC 3986). Schema URIs are identifiers that are compared as written.
/// Nothing is fetched.
struct URIReference {
    var scheme: String?
    var authority: String?
    var path: String
    var query: String?
    var fragment: String?

    /// Splits any text into the parts of RFC 3986, appendix B, without validation.
    init(_ text: String) {
        var rest = Substring(text)
        fragment = Self.cut(&rest, behind: "#")
        query = Self.cut(&rest, behind: "?")
        if let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(rest[..<colon]) {
            scheme = String(rest[..<colon])
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = Substring(rest.utf8.dropFirst(2))
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        path = String(rest)
    }

    /// Removes the first `mark` and the text after it, and returns that text; nil without a mark. Works on bytes,
    /// because a combining character after the mark must not hide the mark.
    private static func cut(_ text: inout Substring, behind mark: Unicode.Scalar) -> String? {
        guard let place = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
        defer { text = text[..<place] }
        return String(text[text.utf8.index(after: place)...])
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first | 0x20 >= UInt8(ascii: "a"), first | 0x20 <= UInt8(ascii: "z") else {
            return false
        }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
    }

    /// The URI without its fragment, which is the name of a whole resource.
    var withoutFragment: URIReference {
        var copy = self
        copy.fragment = nil
        return copy
    }

    /// Resolves the reference as in RFC 3986, section 5.2.2.
    func resolved(against base: URIReference) -> URIReference {
        var result = self
        if scheme != nil {
            result.path = Self.withoutDots(path)
            return result
        }
        result.scheme = base.scheme
        if authority != nil {
            result.path = Self.withoutDots(path)
            return result
        }
        result.authority = base.authority
        if path.isEmpty {
            result.path = base.path
            result.query = query ?? base.query
        } else if path.utf8.first == UInt8(ascii: "/") {
            result.path = Self.withoutDots(path)
        } else if base.authority != nil, base.path.isEmpty {
            result.path = Self.withoutDots("/" + path)
        } else {
            let folder = base.path.utf8.lastIndex(of: UInt8(ascii: "/")).map { Substring(base.path.utf8[...$0]) } ?? ""
            result.path = Self.withoutDots(folder + path)
        }
        return result
    }

    /// Removes dot segments (RFC 3986, section 5.2.4).
    private static func withoutDots(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: ".")) else { return path }
        let bytes = Array(path.utf8)
        let slash = UInt8(ascii: "/")
        let isRooted = bytes.first == slash
        /// The segments of the result, each followed by a slash.
        var kept: [UInt8] = []
        var endsInFolder = false
        var start = isRooted ? 1 : 0
        while start <= bytes.count {
            let end = bytes[start...].firstIndex(of: slash) ?? bytes.count
            let segment = bytes[start..<end]
            endsInFolder = segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
            if !endsInFolder {
                kept += segment
                kept.append(slash)
            } else if segment.count == 2 {
                kept.removeLast(min(kept.count, 1))
                while let last = kept.last, last != slash { kept.removeLast() }
            }
            start = end + 1
        }
        if !endsInFolder { kept.removeLast() }
        return (isRooted ? "/" : "") + String(decoding: kept, as: UTF8.self)
    }
}

extension URIReference: CustomStringConvertible {
    var description: String {
        (scheme.map { $0 + ":" } ?? "") + (authority.map { "//" + $0 } ?? "") + path + (query.map { "?" + $0 } ?? "")
            + (fragment.map { "#" + $0 } ?? "")
    }

    /// Decodes percent escapes. Returns nil if they are malformed or the result is not UTF-8.
    static func percentDecoded(_ text: String) -> String? {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
