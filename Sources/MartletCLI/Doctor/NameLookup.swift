import CLinux
import EventLoop
import Glibc
import Threads

/// The lookup of a host's addresses with this machine's resolver.
enum NameLookup {
    /// Returns the addresses; empty if the lookup fails. Starts a thread, which blocks during the lookup.
    static func addresses(of endpoint: Endpoint) async -> [String] {
        await DetachedThread.run { find(endpoint.host) }
    }

    private static func find(_ host: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &found) == 0 else { return [] }
        defer { freeaddrinfo(found) }
        var addresses: [String] = []
        var next = found
        while let entry = next?.pointee {
            next = entry.ai_next
            let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text -> String? in
                guard let start = text.baseAddress,
                    getnameinfo(
                        entry.ai_addr, entry.ai_addrlen, start, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
                else { return nil }
                return String(cString: start)
            }
            if let text, !addresses.contains(text) { addresses.append(text) }
        }
        return addresses
    }
}
