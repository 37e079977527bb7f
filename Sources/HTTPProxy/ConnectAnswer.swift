/// What a proxy answers to CONNECT: the head of an HTTP/1 response, and after one of success the other side's bytes.
struct ConnectAnswer {
    enum Progress: Equatable {
        case incomplete
        /// The way is open; what came behind the head is the other side's already.
        case open(rest: [UInt8])
        /// - Parameter logins: the schemes of `Proxy-Authenticate`, such as `Basic`.
        case refused(status: Int, logins: [String])
        case malformed
    }

    /// Bytes of one head. No proxy has more to say.
    static let headBytesMax = 16_384
    /// Heads with a status of 1xx before the answer.
    static let interimHeadsMax = 8
    /// Characters of a scheme that are kept.
    private static let loginCharactersMax = 20
    private static let endOfHead = Array("\r\n\r\n".utf8)

    private var bytes: [UInt8] = []
    /// No end of the head begins before it.
    private var searchStart = 0
    private var interimHeads = 0

    mutating func add(_ more: some Sequence<UInt8>) -> Progress {
        bytes += more
        while true {
            guard let end = findEndOfHead() else {
                return bytes.count < Self.headBytesMax ? .incomplete : .malformed
            }
            guard end <= Self.headBytesMax, let status = Self.status(bytes) else { return .malformed }
            switch status {
            // Something that comes before the answer (RFC 9110, section 15.2).
            case 100..<200:
                interimHeads += 1
                guard interimHeads <= Self.interimHeadsMax else { return .malformed }
                bytes.removeFirst(end)
                searchStart = 0
            case 200..<300: return .open(rest: Array(bytes[end...]))
            default: return .refused(status: status, logins: Self.logins(bytes[..<end]))
            }
        }
    }

    /// Returns the place behind the empty line. Searches each byte once.
    private mutating func findEndOfHead() -> Int? {
        while searchStart + Self.endOfHead.count <= bytes.count {
            let end = searchStart + Self.endOfHead.count
            if bytes[searchStart..<end].elementsEqual(Self.endOfHead) { return end }
            searchStart += 1
        }
        return nil
    }

    /// The schemes of authentication that a head offers.
    private static func logins(_ head: ArraySlice<UInt8>) -> [String] {
        let name = "proxy-authenticate:"
        return head.split(separator: UInt8(ascii: "\n")).flatMap { line -> [String] in
            let line = String(decoding: line, as: UTF8.self)
            return line.lowercased().hasPrefix(name) ? schemes(line.dropFirst(name.count)) : []
        }
    }

    /// The schemes of a list of challenges such as `Negotiate, Basic realm="a, b"` (RFC 9110, section 11.6.1).
    private static func schemes(_ challenges: Substring) -> [String] {
        var isQuoted = false
        var isEscaped = false
        let elements = challenges.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
        return elements.compactMap { element in
            let element = element.drop { $0.isWhitespace }
            let scheme = element.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            // A parameter of the challenge before.
            let isParameter = element.dropFirst(scheme.count).drop { $0.isWhitespace }.first == "="
            return scheme.isEmpty || isParameter ? nil : String(scheme.prefix(loginCharactersMax))
        }
    }

    /// Of `HTTP/1.1 200 …`; nil when it does not begin so.
    private static func status(_ bytes: [UInt8]) -> Int? {
        let version = Array("HTTP/1.".utf8)
        guard bytes.count >= version.count + 5, bytes.starts(with: version), bytes[version.count + 1] == 0x20 else {
            return nil
        }
        let digits = bytes[(version.count + 2)..<(version.count + 5)]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
