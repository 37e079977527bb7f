import EventLoop

/// A `postgresql:` URL in the format of libpq, limited to the parts that a worker needs:
///
///     postgresql://martlet@db1.example.com,db2.example.com:5433/push?sslrootcert=/etc/martlet/db-ca.pem
///     postgresql://martlet@/push?host=/run/postgresql
///
/// `sslmode` is `verify-full`, or `disable` for servers on this machine. Without `sslmode`, TLS is used if a server is
/// on another machine or if `sslrootcert` is present. The URL must not contain a password.
public struct PostgresURL: Sendable, Hashable {
    public static let standardPort: UInt16 = 5432
    /// The default of `sslrootcert`, which is the file of the certificate authorities that Debian trusts.
    public static let systemRootCertificate = "/etc/ssl/certs/ca-certificates.crt"

    public let endpoints: PostgresEndpointList

    /// Parses a URL.
    ///
    /// - Throws: ``PostgresError`` of code `invalidURL`. The message quotes at most a host, since the URL may contain a
    ///   password.
    public init(_ text: String) throws(PostgresError) {
        guard let scheme = ["postgresql://", "postgres://"].first(where: { text.hasPrefix($0) }) else {
            throw Self.invalid("must begin with postgresql://")
        }
        guard !text.utf8.contains(0), !text.contains("#") else { throw Self.invalid("has a fragment or a NUL") }
        var rest = text.dropFirst(scheme.count)
        let query = Self.cut(&rest, from: "?")
        let path = Self.cut(&rest, from: "/")
        guard let at = rest.lastIndex(of: "@") else { throw Self.invalid("has no user before the host") }
        guard !rest[..<at].contains(":") else {
            throw Self.invalid("contains a password; write the password to a separate file")
        }
        let user = try Self.decoded(rest[..<at])
        let authority = rest[rest.index(after: at)...]
        let options = try Self.options(query ?? "")
        let hosts = try Self.hosts(authority, socket: options["host"])
        let security = try Self.security(options, areLocal: hosts.allSatisfy(\.isLocal))
        endpoints = try PostgresEndpointList(
            hosts: hosts, user: user, database: try Self.decoded(path ?? ""), security: security)
    }

    private static func options(_ query: Substring) throws(PostgresError) -> [Substring: String] {
        var options: [Substring: String] = [:]
        for pair in query.split(separator: "&") {
            var name = pair
            let value = try decoded(cut(&name, from: "=") ?? "")
            guard ["host", "sslmode", "sslrootcert"].contains(name) else {
                throw invalid("has an unknown query parameter (supported: host, sslmode, sslrootcert)")
            }
            guard !value.isEmpty, options.updateValue(value, forKey: name) == nil else {
                throw invalid("has a query parameter without a value, or the same parameter twice")
            }
        }
        return options
    }

    private static func hosts(_ authority: Substring, socket: String?) throws(PostgresError) -> [PostgresHost] {
        if let socket {
            // As in libpq, the port of a socket follows an empty host.
            guard authority.isEmpty || authority.hasPrefix(":"), socket.hasPrefix("/") else {
                throw invalid(
                    "has an invalid query parameter host; use the absolute path of a socket folder, and no other host")
            }
            return [.socket(directory: socket, port: try port(authority.dropFirst()))]
        }
        guard !authority.isEmpty else { throw invalid("has no host") }
        var hosts: [PostgresHost] = []
        for part in authority.split(separator: ",", omittingEmptySubsequences: false) {
            hosts.append(try host(part))
        }
        return hosts
    }

    private static func host(_ part: Substring) throws(PostgresError) -> PostgresHost {
        var name = part
        let portText: Substring
        if name.hasPrefix("[") {
            guard let end = name.firstIndex(of: "]") else { throw invalid("has an IPv6 address without a closing ]") }
            portText = name[name.index(after: end)...]
            name = name[name.index(after: name.startIndex)..<end]
            guard portText.isEmpty || portText.hasPrefix(":") else { throw invalid("has an invalid host") }
        } else {
            portText = cut(&name, from: ":").map { ":" + $0 } ?? ""
        }
        let port = try port(portText.dropFirst())
        let host = try decoded(name)
        guard !host.isEmpty else { throw invalid("has an empty host") }
        return host.hasPrefix("/") ? .socket(directory: host, port: port) : .tcp(Endpoint(host: host, port: port))
    }

    private static func port(_ text: Substring) throws(PostgresError) -> UInt16 {
        if text.isEmpty { return standardPort }
        guard let port = UInt16(text), port > 0 else { throw invalid("has an invalid port") }
        return port
    }

    private static func security(
        _ options: [Substring: String], areLocal: Bool
    ) throws(PostgresError) -> PostgresEndpointList.Security {
        let verifyFull = PostgresEndpointList.Security.verifyFull(
            rootCertificate: options["sslrootcert"] ?? systemRootCertificate)
        switch options["sslmode"] {
        case "verify-full": return verifyFull
        case "disable": return .none
        case nil: return areLocal && options["sslrootcert"] == nil ? .none : verifyFull
        default: throw invalid("has a weak or unknown sslmode; use sslmode=verify-full")
        }
    }

    /// Removes the text from the first `separator` on. Returns the removed text without the separator; nil if `text`
    /// contains no separator.
    private static func cut(_ text: inout Substring, from separator: Character) -> Substring? {
        guard let index = text.firstIndex(of: separator) else { return nil }
        defer { text = text[..<index] }
        return text[text.index(after: index)...]
    }

    private static func decoded(_ text: Substring) throws(PostgresError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                value != 0, rest.first != UInt8(ascii: "+")
            else { throw invalid("has an invalid percent-encoding") }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw invalid("has invalid UTF-8") }
        return text
    }

    private static func invalid(_ problem: String) -> PostgresError {
        PostgresError(.invalidURL, "the PostgreSQL URL \(problem)")
    }
}
