/// A parser of a proxy's answer to CONNECT. The answer is the head of an HTTP/1 response. After a successful answer,
/// bytes of the target follow.
struct ConnectAnswer {
    enum Progress: Equatable {
        case incomplete
        /// An open tunnel. `rest` contains bytes of the target that arrived with the head.
        case open(rest: [UInt8])
        /// A refusal by the proxy. `logins` are the schemes of `Proxy-Authenticate`, such as `Basic`.
        case refused(status: Int, logins: [String])
        case malformed
    }

    static let headBytesMax = 16_384
    /// Maximum number of interim heads with status 1xx.
    static let interimHeadsMax = 8
    /// Maximum stored length of a scheme.
    private static let loginCharactersMax = 20
    private static let endOfHead = Array("\r\n\r\n".utf8)

    private var bytes: [UInt8] = []
    /// Offset at which the search for the end of the head continues.
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
            // An interim response (RFC 9110, section 15.2).
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

    /// Returns the offset after the empty line; nil if the head is incomplete. Each call continues where the previous
    /// call stopped.
    private mutating func findEndOfHead() -> Int? {
        while searchStart + Self.endOfHead.count <= bytes.count {
            let end = searchStart + Self.endOfHead.count
            if bytes[searchStart..<end].elementsEqual(Self.endOfHead) { return end }
            searchStart += 1
        }
        return nil
    }

    /// Returns the authentication schemes that a head offers.
    private static func logins(_ head: ArraySlice<UInt8>) -> [String] {
        let name = "proxy-authenticate:"
        return head.split(separator: UInt8(ascii: "\n")).flatMap { line -> [String] in
            let line = String(decoding: line, as: UTF8.self)
            return line.lowercased().hasPrefix(name) ? schemes(line.dropFirst(name.count)) : []
        }
    }

    /// Returns the schemes of a list of challenges, such as `Negotiate, Basic realm="a, b"` (RFC 9110, section 11.6.1).
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
            // A name followed by `=` is a parameter of the previous challenge.
            let isParameter = element.dropFirst(scheme.count).drop { $0.isWhitespace }.first == "="
            return scheme.isEmpty || isParameter ? nil : String(scheme.prefix(loginCharactersMax))
        }
    }

    /// Returns the status of a line such as `HTTP/1.1 200 …`; nil if the line is malformed.
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
