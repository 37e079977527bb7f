import CLinux
import Glibc

/// A bound, listening socket.
struct ListeningSocket {
    let descriptor: Int32
    /// The endpoint. The host of a Unix socket is its path.
    let endpoint: Endpoint
    /// The file of a Unix socket, removed on close; nil for TCP.
    private let path: String?

    /// Listens at an address and port. Port 0 selects any free port.
    static func tcp(_ endpoint: Endpoint, backlog: Int) throws(TransportError) -> ListeningSocket {
        let address = try Resolver.lookUp(endpoint, flags: AI_NUMERICHOST | AI_PASSIVE).get()[0]
        let descriptor = try open(address.family, endpoint)
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0,
            Glibc.listen(descriptor, Int32(clamping: backlog)) == 0,
            let port = SocketAddress.local(of: descriptor)?.port
        else { throw failure(descriptor, endpoint) }
        return ListeningSocket(descriptor: descriptor, endpoint: Endpoint(host: endpoint.host, port: port), path: nil)
    }

    /// Listens on a socket file that only this user may connect to. Replaces a socket file without a listener.
    static func unix(_ path: String, backlog: Int) throws(TransportError) -> ListeningSocket {
        let endpoint = Endpoint(host: path, port: 0)
        guard let address = SocketAddress(unix: path) else {
            throw TransportError(.resources, "\(path): the path is empty or too long for a Unix socket")
        }
        let descriptor = try open(AF_UNIX, endpoint)
        if isSocket(path), isAbandoned(address) { unlink(path) }
        // Set the mode before `listen`, because no process can connect before `listen`.
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, chmod(path, 0o600) == 0,
            Glibc.listen(descriptor, Int32(clamping: backlog)) == 0
        else { throw failure(descriptor, endpoint) }
        return ListeningSocket(descriptor: descriptor, endpoint: endpoint, path: path)
    }

    /// Returns whether the path is a socket. A connect to any other file is also refused, so that file would seem
    /// abandoned.
    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Returns whether no process listens on the socket.
    private static func isAbandoned(_ address: SocketAddress) -> Bool {
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        return address.withPointer { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    private static func open(_ family: Int32, _ endpoint: Endpoint) throws(TransportError) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(family, kind, 0)
        guard descriptor >= 0 else { throw TransportError(errno: errno, endpoint.description) }
        return descriptor
    }

    private static func failure(_ descriptor: Int32, _ endpoint: Endpoint) -> TransportError {
        let error = TransportError(errno: errno, endpoint.description)
        Glibc.close(descriptor)
        return error
    }

    func close() {
        Glibc.close(descriptor)
        if let path { unlink(path) }
    }
}
