/// Who may be meant by a request and who may have caused it. A page of another site can have a browser send requests to
/// loopback: under the site's own name, when that is made to resolve to 127.0.0.1, or with the site as `Origin`.
struct TrustedHosts: Sendable {
    private let names: [String]
    private let isAnyTrusted: Bool

    /// - Parameters:
    ///   - listening: the address listened on, a name too unless it stands for all addresses.
    ///   - names: further ones, without port.
    ///   - isAnyTrusted: whether any name may be meant. Pages of other origins are refused all the same.
    init(listening address: String, names: [String], isAnyTrusted: Bool = false) {
        self.isAnyTrusted = isAnyTrusted
        let own = ["0.0.0.0", "::"].contains(address) ? [] : [address]
        let all = (["localhost", "127.0.0.1", "[::1]"] + own + names).map { name in
            let name = name.lowercased()
            return name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        }
        self.names = all.enumerated().filter { !all[..<$0.offset].contains($0.element) }.map(\.element)
    }

    /// Why a request with these headers is refused; nil when it is not.
    func refusal(hosts: [String], origins: [String]) -> AdminResponse? {
        guard hosts.count == 1, let host = hosts.first?.lowercased(), let name = Self.name(of: host),
            isAnyTrusted || names.contains(name)
        else {
            return .error(
                403, "the Host header has to be one of \(names.joined(separator: ", ")), with or without a port")
        }
        // A TLS proxy in front makes it https.
        for origin in origins where !["http://\(host)", "https://\(host)"].contains(origin.lowercased()) {
            return .error(403, "requests from pages of another origin are refused")
        }
        return nil
    }

    /// What stands before the port; nil when it is neither a name nor an address with or without one.
    private static func name(of host: String) -> String? {
        let end = host.hasPrefix("[") ? host.firstIndex(of: "]").map(host.index(after:)) : host.firstIndex(of: ":")
        guard let end else { return host.hasPrefix("[") ? nil : host }
        let port = host[end...]
        guard port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil else { return nil }
        return String(host[..<end])
    }
}
