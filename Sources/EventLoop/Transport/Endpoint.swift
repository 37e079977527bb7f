/// A host name or address and a TCP port, to connect to or to listen on.
public struct Endpoint: Sendable, Hashable, CustomStringConvertible {
    public var host: String
    public var port: UInt16

    public init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, with an IPv6 address in brackets. Returns nil for other texts.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        let isBracketed = text.hasPrefix("[") && text[..<colon].hasSuffix("]")
        let host = isBracketed ? text[..<colon].dropFirst().dropLast() : text[..<colon]
        guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
        self.init(host: String(host), port: port)
    }

    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
