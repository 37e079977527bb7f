/// A decoder of the header blocks of one direction of a connection (RFC 7541).
///
/// It is independent of any library, so that tests do not check a library's encoder with its own decoder.
struct HPACKReader {
    struct Malformed: Error {}

    enum Form { case indexed, incremental, literal }

    /// The representation of each field in the last block.
    private(set) var forms: [Form] = []
    private var dynamic: [(name: String, value: String)] = []
    private var dynamicBytesMax = 4096

    mutating func read(_ block: [UInt8]) throws(Malformed) -> [(name: String, value: String)] {
        var rest = block[...]
        var fields: [(name: String, value: String)] = []
        forms = []
        while let first = rest.first {
            if first & 0x80 != 0 {
                fields.append(try entry(try Self.integer(&rest, prefixBits: 7)))
                forms.append(.indexed)
            } else if first & 0xE0 == 0x20 {
                dynamicBytesMax = try Self.integer(&rest, prefixBits: 5)
                evict()
            } else {
                let isIncremental = first & 0x40 != 0
                let index = try Self.integer(&rest, prefixBits: isIncremental ? 6 : 4)
                let name = index == 0 ? try Self.text(&rest) : try entry(index).name
                let field = (name: name, value: try Self.text(&rest))
                fields.append(field)
                forms.append(isIncremental ? .incremental : .literal)
                if isIncremental {
                    dynamic.insert(field, at: 0)
                    evict()
                }
            }
        }
        return fields
    }

    private func entry(_ index: Int) throws(Malformed) -> (name: String, value: String) {
        if 1...Self.fixed.count ~= index { return Self.fixed[index - 1] }
        let place = index - Self.fixed.count - 1
        guard dynamic.indices.contains(place) else { throw Malformed() }
        return dynamic[place]
    }

    private mutating func evict() {
        while dynamic.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }) > dynamicBytesMax {
            dynamic.removeLast()
        }
    }

    private static func integer(_ rest: inout ArraySlice<UInt8>, prefixBits: Int) throws(Malformed) -> Int {
        let full = 1 << prefixBits - 1
        guard let first = rest.popFirst() else { throw Malformed() }
        var value = Int(first) & full
        guard value == full else { return value }
        for shift in stride(from: 0, to: 28, by: 7) {
            guard let byte = rest.popFirst() else { throw Malformed() }
            value += Int(byte & 127) << shift
            if byte < 128 { return value }
        }
        throw Malformed()
    }

    private static func text(_ rest: inout ArraySlice<UInt8>) throws(Malformed) -> String {
        guard let first = rest.first else { throw Malformed() }
        let count = try integer(&rest, prefixBits: 7)
        guard rest.count >= count else { throw Malformed() }
        let bytes = rest.prefix(count)
        rest.removeFirst(count)
        guard first & 0x80 != 0 else { return String(decoding: bytes, as: UTF8.self) }
        guard let text = HuffmanCode.decode(bytes) else { throw Malformed() }
        return String(decoding: text, as: UTF8.self)
    }

    /// The static table (RFC 7541, appendix A).
    private static let fixed: [(name: String, value: String)] =
        [
            (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
            (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
            (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
            ("accept-encoding", "gzip, deflate"),
        ]
        + [
            "accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow",
            "authorization",
            "cache-control", "content-disposition", "content-encoding", "content-language", "content-length",
            "content-location", "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from",
            "host", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
            "last-modified",
            "link", "location", "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer",
            "refresh", "retry-after", "server", "set-cookie", "strict-transport-security", "transfer-encoding",
            "user-agent", "vary", "via", "www-authenticate",
        ].map { ($0, "") }
}
