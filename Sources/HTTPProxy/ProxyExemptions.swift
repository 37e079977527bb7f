public import EventLoop

/// The hosts that bypass the proxy of the environment variables. These are this machine and the hosts in `NO_PROXY`.
///
/// `NO_PROXY` is a list of names and addresses, separated by commas or spaces. Each entry may have a port. A name
/// includes its subdomains, with or without a leading `*.`. `*` means all hosts. Networks (`10.0.0.0/8`) are not
/// supported.
public struct ProxyExemptions: Sendable, Hashable {
    private struct Entry: Sendable, Hashable {
        var host: String
        /// The exempt port; nil means every port.
        var port: UInt16?
    }

    private let entries: [Entry]
    private let areAllExempt: Bool

    /// Reads the exemptions from a list.
    ///
    /// - Parameter list: the value of `NO_PROXY`.
    public init(_ list: String) {
        let parts = list.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
        areAllExempt = parts.contains("*")
        entries = parts.map { Self.entry($0) }
    }

    private static func entry(_ text: String) -> Entry {
        let endpoint = Endpoint(text)
        let host = endpoint?.host ?? text.filter { $0 != "[" && $0 != "]" }
        let name = host.hasPrefix("*.") ? host.dropFirst() : host[...]
        return Entry(host: String(name.drop { $0 == "." }), port: endpoint?.port)
    }

    public func contains(_ endpoint: Endpoint) -> Bool {
        let host = endpoint.host.lowercased()
        return areAllExempt || Self.isThisMachine(host)
            || entries.contains { entry in
                guard entry.port == nil || entry.port == endpoint.port, !entry.host.isEmpty else { return false }
                return host == entry.host || host.hasSuffix("." + entry.host)
            }
    }

    private static func isThisMachine(_ host: String) -> Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1"
            || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}
