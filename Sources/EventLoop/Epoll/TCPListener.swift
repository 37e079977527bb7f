import CLinux
import Glibc

/// Accepts TCP connections for a loop; `accept` owns each descriptor that it is given.
final class TCPListener: ByteListener {
    /// Connections accepted before the loop looks at other sockets.
    private static let acceptsPerTurnMax = 4
    /// Pause when the process is out of descriptors, during which connections wait in the backlog.
    private static let pauseMilliseconds = 100

    private let loop: EpollLoop
    private let accept: (Int32) -> Void
    private let descriptor: Int32
    private var watch: FileWatch?
    private var isClosed = false

    init(
        loop: EpollLoop, endpoint: Endpoint, backlog: Int, accept: @escaping (Int32) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.accept = accept
        let address = try Resolver.lookUp(endpoint, flags: AI_NUMERICHOST | AI_PASSIVE).get()[0]
        descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TransportError(errno: errno, endpoint.description) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        let descriptor = descriptor
        guard address.withPointer({ bind(descriptor, $0, $1) }) == 0,
            Glibc.listen(descriptor, Int32(clamping: backlog)) == 0,
            let port = SocketAddress.local(of: descriptor)?.port
        else {
            let error = TransportError(errno: errno, endpoint.description)
            Glibc.close(descriptor)
            throw error
        }
        super.init(endpoint: Endpoint(host: endpoint.host, port: port))
        guard startWatching() else {
            let error = TransportError(errno: errno, endpoint.description)
            Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        precondition(watch == nil, "a listener was dropped without close()")
    }

    private func startWatching() -> Bool {
        watch = loop.watch(
            descriptor, for: EPOLLIN, action: { [self] _ in acceptWaiting() }, abandoned: { [self] in close() })
        return watch != nil
    }

    private func acceptWaiting() {
        for _ in 0..<Self.acceptsPerTurnMax where !isClosed {
            let accepted = Glibc.accept(descriptor, nil, nil)
            guard accepted >= 0 else {
                if [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) { pause() }
                return
            }
            _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            accept(accepted)
        }
    }

    private func pause() {
        if let watch { loop.end(watch) }
        watch = nil
        loop.schedule(after: .milliseconds(Self.pauseMilliseconds)) { [self] in
            // What the process was out of may still be short.
            if !isClosed, !startWatching() { pause() }
        }
    }

    override func close() {
        loop.assertOnLoop()
        guard !isClosed else { return }
        isClosed = true
        if let watch { loop.end(watch) }
        watch = nil
        Glibc.close(descriptor)
    }
}
