import CLinux

/// The resolution of host names on the calling thread.
enum Resolver {
    /// Maximum number of addresses of a name. Further addresses are ignored.
    static let addressesMax = 64

    typealias Answer = Result<[SocketAddress], TransportError>

    /// Returns the address if the host is a numeric address; nil if the host is a name.
    static func numeric(_ endpoint: Endpoint) -> [SocketAddress]? {
        try? lookUp(endpoint, flags: AI_NUMERICHOST).get()
    }

    /// Returns the addresses of a host. Blocks during the query to the name service, unless `flags` exclude a query.
    static func lookUp(_ endpoint: Endpoint, flags: Int32 = 0) -> Answer {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            let why = String(cString: gai_strerror(status))
            return .failure(TransportError(.resolve, "cannot resolve \(endpoint.host): \(why)", underlying: status))
        }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next, addresses.count < addressesMax {
            if let address = entry.pointee.ai_addr,
                let address = SocketAddress(address, length: entry.pointee.ai_addrlen)
            {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else {
            return .failure(TransportError(.resolve, "\(endpoint.host) has no address"))
        }
        return .success(addresses)
    }
}
