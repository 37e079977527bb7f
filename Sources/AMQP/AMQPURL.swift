public import EventLoop

/// An `amqp:` or `amqps:` URL according to RabbitMQ's URI specification.
///
/// As an extension, the path `/` means the virtual host `/`, and a comma-separated list of hosts is allowed.
///
///     amqps://user:p%40ss@one.example.com,two.example.com:5671/vhost?heartbeat=20
public struct AMQPURL: Sendable {
    public var usesTLS: Bool
    public var endpoints: [Endpoint]
    /// The user and password. Both are `guest` if the URL has no `@`.
    public var credentials: AMQPCredentials
    /// Whether the URL contains a user.
    public private(set) var namesUser = false
    public var virtualHost: String
    /// The query parameter `heartbeat`, in seconds; nil if it is missing.
    public var heartbeatSeconds: Int?
    /// The query parameter `connection_timeout`, in milliseconds; nil if it is missing.
    public var connectionTimeoutMilliseconds: Int?

    /// `connectionTimeoutMilliseconds` in seconds, rounded up; nil if it is missing or 0.
    var stepSecondsMax: Int? {
        connectionTimeoutMilliseconds.flatMap { $0 > 0 ? ($0 + 999) / 1000 : nil }
    }

    /// The timeouts of the TCP connection and of the TLS handshake, from `connection_timeout` or the defaults.
    /// `connection_timeout` also limits the login, and the opening and setup of a channel.
    public var connectOptions: ConnectOptions {
        var options = ConnectOptions()
        options.connectSecondsMax = stepSecondsMax ?? options.connectSecondsMax
        options.handshakeSecondsMax = stepSecondsMax ?? options.handshakeSecondsMax
        return options
    }

    static let hostsMax = 64

    /// Parses a URL. The error never quotes the URL, which may contain a password.
    public init(_ text: String) throws(AMQPError) {
        var rest = Substring(text)
        if rest.removePrefix("amqp://") {
            usesTLS = false
        } else if rest.removePrefix("amqps://") {
            usesTLS = true
        } else {
            throw Self.invalid("must begin with amqp:// or amqps://")
        }
        guard !rest.contains("#") else { throw Self.invalid("has a fragment; write %23 for #") }
        let query = rest.cutOff(from: "?")
        let path = rest.cutOff(from: "/")
        // An @ after a / or ? is ambiguous. The @ may end credentials that contain the / or ?, or belong to the virtual
        // host or the query.
        guard ![path, query].contains(where: { $0?.contains("@") == true }) else {
            throw Self.invalid(
                "has an @ after a / or ?; write %2F for / and %3F for ? in user and password, "
                    + "and %40 for @ in the virtual host")
        }
        credentials = AMQPCredentials(user: "guest", password: "guest")
        if let at = rest.lastIndex(of: "@") {
            credentials = try Self.credentials(rest[..<at])
            namesUser = true
            rest = rest[rest.index(after: at)...]
        }
        let port: UInt16 = usesTLS ? 5671 : 5672
        endpoints = []
        for host in rest.split(separator: ",", omittingEmptySubsequences: false) {
            endpoints.append(try Self.endpoint(host, defaultPort: port))
        }
        guard endpoints.count <= Self.hostsMax else { throw Self.invalid("names more than \(Self.hostsMax) hosts") }
        virtualHost = "/"
        if let path, !path.isEmpty {
            guard !path.contains("/") else { throw Self.invalid("has a / in the virtual host; write %2F for /") }
            virtualHost = try Self.decoded(path, "virtual host")
        }
        for pair in query?.split(separator: "&") ?? [] {
            try readQuery(pair)
        }
    }

    private mutating func readQuery(_ pair: Substring) throws(AMQPError) {
        var name = pair
        guard let text = name.cutOff(from: "="), let value = Int(text), value >= 0, value <= Int(Int32.max) else {
            throw Self.invalid("has a query value that is not a number from 0 to \(Int32.max)")
        }
        switch name {
        case "heartbeat" where value <= Int(UInt16.max): heartbeatSeconds = value
        case "connection_timeout": connectionTimeoutMilliseconds = value
        default:
            throw Self.invalid(
                "has an unknown query parameter or a heartbeat above \(UInt16.max) "
                    + "(supported: heartbeat, connection_timeout)")
        }
    }

    private static func credentials(_ text: Substring) throws(AMQPError) -> AMQPCredentials {
        var user = text
        let password = user.cutOff(from: ":")
        return AMQPCredentials(
            user: try decoded(user, "user"), password: try decoded(password ?? "", "password"))
    }

    private static func endpoint(_ text: Substring, defaultPort: UInt16) throws(AMQPError) -> Endpoint {
        var host = text
        var portText: Substring?
        if host.removePrefix("[") {
            guard let end = host.firstIndex(of: "]") else { throw invalid("has an IPv6 address without a closing ]") }
            var tail = host[host.index(after: end)...]
            host = host[..<end]
            if tail.removePrefix(":") {
                portText = tail
            } else if !tail.isEmpty {
                throw invalid("has text other than :PORT after ]")
            }
            guard host.prefix(while: { $0 != "%" }).allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
                throw invalid("has an invalid IPv6 address")
            }
        } else {
            portText = host.cutOff(from: ":")
        }
        var port = defaultPort
        if let portText {
            guard let number = UInt16(portText), number > 0 else {
                throw invalid("has a port that is not a number from 1 to 65535")
            }
            port = number
        }
        let name = try decoded(host, "host")
        guard !name.isEmpty else { throw invalid("has no host") }
        return Endpoint(host: name, port: port)
    }

    private static func decoded(_ text: Substring, _ part: String) throws(AMQPError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                throw invalid("has a % in the \(part) without two hexadecimal digits after it; write %25 for %")
            }
            bytes.append(high << 4 | low)
        }
        guard let string = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
            throw invalid("has a \(part) that is not UTF-8 or contains %00")
        }
        return string
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func invalid(_ what: String) -> AMQPError {
        AMQPError(.invalidURL, "the AMQP URL \(what)", isRetriable: false)
    }
}

extension Substring {
    fileprivate mutating func removePrefix(_ prefix: String) -> Bool {
        guard hasPrefix(prefix) else { return false }
        removeFirst(prefix.count)
        return true
    }

    /// Removes the first `separator` and the text after it. Returns this text; nil if there is no separator.
    fileprivate mutating func cutOff(from separator: Character) -> Substring? {
        guard let index = firstIndex(of: separator) else { return nil }
        let tail = self[self.index(after: index)...]
        self = self[..<index]
        return tail
    }
}
