/// What a proxy answers to CONNECT: the head of an HTTP/1 response, and after one of success the other side's bytes.
struct ConnectAnswer {
    enum Progress: Equatable {
        case incomplete
        /// The way is open; what came behind the head is the other side's already.
        case open(rest: [UInt8])
        /// With this status.
        case refused(Int)
        case malformed
    }

    /// No proxy has more to say.
    static let headBytesMax = 16_384

    private var bytes: [UInt8] = []

    mutating func add(_ more: some Sequence<UInt8>) -> Progress {
        bytes += more
        while true {
            guard let end = Self.endOfHead(bytes) else {
                return bytes.count < Self.headBytesMax ? .incomplete : .malformed
            }
            guard end <= Self.headBytesMax, let status = Self.status(bytes) else { return .malformed }
            switch status {
            // Something that comes before the answer (RFC 9110, section 15.2).
            case 100..<200: bytes.removeFirst(end)
            case 200..<300: return .open(rest: Array(bytes[end...]))
            default: return .refused(status)
            }
        }
    }

    /// Behind the empty line.
    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        guard bytes.count >= end.count else { return nil }
        return (end.count...bytes.count).first { bytes[($0 - end.count)..<$0].elementsEqual(end) }
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
