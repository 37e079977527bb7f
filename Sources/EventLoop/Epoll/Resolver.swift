import CLinux

/// Turns a host name into addresses. Names are looked up on a thread of their own, because that can block for long;
/// addresses written as numbers are not looked up at all.
enum Resolver {
    /// Addresses that are tried; a name with more is cut.
    static let addressesMax = 8

    typealias LookUp = @Sendable (Endpoint) -> Result<[SocketAddress], TransportError>

    static func resolve(
        _ endpoint: Endpoint, for loop: EpollLoop,
        _ completion: @escaping (Result<[SocketAddress], TransportError>) -> Void
    ) {
        if case .success(let addresses) = lookUp(endpoint, flags: AI_NUMERICHOST) {
            return completion(.success(addresses))
        }
        // Only the loop's thread calls what is boxed here.
        let bound = LoopBound(completion)
        let lookUp = loop.lookUp
        do {
            try DetachedThread.start {
                let result = lookUp(endpoint)
                loop.post { bound.value(result) }
            }
        } catch {
            completion(.failure(error))
        }
    }

    /// Blocks while the name service is asked.
    static func lookUp(_ endpoint: Endpoint, flags: Int32) -> Result<[SocketAddress], TransportError> {
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

/// Carries a value that belongs to a loop through another thread, which does not touch it.
///
/// `@unchecked Sendable`: the value is used on the loop's thread only.
struct LoopBound<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
