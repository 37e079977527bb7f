/// The check of a request's `Host` and `Origin` headers. A page of another site can make a browser send requests to
/// loopback. If the site's name resolves to 127.0.0.1, such a request has the name as `Host`. Otherwise, the request
/// has the site as `Origin`.
struct TrustedHosts: Sendable {
    private let names: [String]
    private let isAnyTrusted: Bool

    /// Creates the check of an endpoint.
    ///
    /// - Parameters:
    ///   - listening: the listening address, which is an accepted name unless it is the wildcard address.
    ///   - names: further accepted names, without port.
    ///   - isAnyTrusted: whether any name is accepted. Pages of other origins are refused regardless.
    init(listening address: String, names: [String], isAnyTrusted: Bool = false) {
        self.isAnyTrusted = isAnyTrusted
        let own = ["0.0.0.0", "::"].contains(address) ? [] : [address]
        let all = (["localhost", "127.0.0.1", "[::1]"] + own + names).map { name in
            let name = name.lowercased()
            return name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        }
        self.names = all.enumerated().filter { !all[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Returns the reason to refuse a request with these headers; nil if the request is allowed.
    func foreign(hosts: [String], origins: [String]) -> ForeignRequest? {
        guard hosts.count == 1, let host = hosts.first?.lowercased(), let name = Self.name(of: host),
            isAnyTrusted || names.contains(name)
        else { return .hosts(hosts) }
        // A TLS proxy in front changes the scheme to https.
        let foreign = origins.first { !["http://\(host)", "https://\(host)"].contains($0.lowercased()) }
        return foreign.map { .origin($0) }
    }

    /// Returns the answer to a foreign request.
    func refusal(_ request: ForeignRequest) -> AdminResponse {
        switch request {
        case .hosts:
            .error(403, "the Host header must be one of \(names.joined(separator: ", ")), with or without a port")
        case .origin: .error(403, "requests from pages of another origin are refused")
        }
    }

    /// Returns the part before the port; nil if the text is not a name or address with an optional port.
    private static func name(of host: String) -> String? {
        let end = host.hasPrefix("[") ? host.firstIndex(of: "]").map(host.index(after:)) : host.firstIndex(of: ":")
        guard let end else { return host.hasPrefix("[") ? nil : host }
        let port = host[end...]
        guard port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil else { return nil }
        return String(host[..<end])
    }
}
