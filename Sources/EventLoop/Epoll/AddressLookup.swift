import CLinux
import Glibc

/// A lookup of a host's addresses for a library that connects by itself, from `init` to its completion or `cancel()`.
/// Used on the loop's thread only.
public final class AddressLookup {
    private let loop: EpollLoop
    private var request: EpollLoop.NameRequest?
    private var completion: ((Result<[String], TransportError>) -> Void)?

    /// Starts the lookup. Calls `completion` once on the loop, never from inside `init`. The result is an error, or at
    /// most 16 numeric addresses of `host` in the order of the name service. If `host` is a numeric address, the result
    /// is this address.
    ///
    /// The lookup may take seconds, and has no timeout of its own. `completion` is not called after `cancel()` or the
    /// end of the loop.
    public init(loop: EpollLoop, host: String, completion: @escaping (Result<[String], TransportError>) -> Void) {
        self.loop = loop
        self.completion = completion
        if let addresses = Resolver.numeric(Endpoint(host: host, port: 0)) {
            loop.later { [self] in finish(.success(addresses)) }
        } else {
            request = loop.resolve(host) { [self] in finish($0) }
        }
    }

    /// Prevents the call of the completion.
    public func cancel() {
        loop.assertOnLoop()
        completion = nil
        if let request { loop.stopResolving(request) }
        request = nil
    }

    private func finish(_ answer: Resolver.Answer) {
        request = nil
        completion.take()?(answer.map { Self.texts(of: $0) })
    }

    private static func texts(of addresses: [SocketAddress]) -> [String] {
        var texts: [String] = []
        for text in addresses.compactMap(\.numericHost) where !texts.contains(text) { texts.append(text) }
        return Array(texts.prefix(ConnectRace.addressesMax))
    }
}

extension SocketAddress {
    /// The numeric address without the port, with the zone of a link-local address. nil for a Unix socket, or if
    /// getnameinfo fails.
    fileprivate var numericHost: String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let status = withPointer {
            getnameinfo($0, $1, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
        }
        guard status == 0, family != AF_UNIX else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
