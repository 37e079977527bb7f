import CLinux
import Glibc

/// A listener that accepts connections on a bound socket for a loop. `accept` owns each descriptor that it receives.
final class SocketListener: ByteListener {
    /// Maximum number of connections accepted per event, before the loop handles other sockets.
    private static let acceptsPerEventMax = 4
    /// Pause after descriptors or memory are exhausted. Connections wait in the backlog.
    private static let pauseMilliseconds = 100

    private let loop: EpollLoop
    private let accept: (Int32) -> Void
    private let socket: ListeningSocket
    private var watch: DescriptorRegistration?
    private var isClosed = false

    /// Creates a listener, and starts to accept connections.
    ///
    /// - Parameter socket: the bound socket, which is closed with the listener, or if this initializer throws.
    init(
        loop: EpollLoop, _ socket: ListeningSocket, accept: @escaping (Int32) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.socket = socket
        self.accept = accept
        super.init(endpoint: socket.endpoint)
        guard startWatching() else {
            let error = TransportError(errno: errno, socket.endpoint.description)
            socket.close()
            throw error
        }
    }

    deinit {
        precondition(watch == nil, "a listener was dropped without close()")
    }

    private func startWatching() -> Bool {
        watch = loop.watch(
            socket.descriptor, for: EPOLLIN, action: { [self] _ in acceptWaiting() }, abandoned: { [self] in close() })
        return watch != nil
    }

    private func acceptWaiting() {
        for _ in 0..<Self.acceptsPerEventMax where !isClosed {
            let accepted = Glibc.accept(socket.descriptor, nil, nil)
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
            // Descriptors or memory may still be exhausted.
            if !isClosed, !startWatching() { pause() }
        }
    }

    override func close() {
        loop.assertOnLoop()
        guard !isClosed else { return }
        isClosed = true
        if let watch { loop.end(watch) }
        watch = nil
        socket.close()
    }
}
