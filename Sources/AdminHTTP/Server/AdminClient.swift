import EventLoop
import Glibc

/// One connection of the endpoint, with the time limits of its client and a watch for the client's close.
/// libmicrohttpd misses a close that arrives together with bytes, and every close while an answer is pending.
final class AdminClient {
    /// Maximum time to read the bytes that a client sent before it closed the connection.
    private static let goneSecondsMax = 1

    /// The peer's host; nil for a Unix socket.
    let host: PeerHost?
    /// The user ID of the peer's process; nil for a peer over TCP.
    let userID: UInt32?
    /// Whether a complete request has arrived, but its answer is not queued yet.
    private(set) var isOwedAnswer = false
    /// The position in the order in which connections began to wait for their clients. A connection waits until its
    /// client sends a request or reads an answer.
    private(set) var waitingSince: Int

    private let server: AdminServer
    private let descriptor: Int32
    private var watch: DescriptorWatch?
    private var deadline: TimerToken?
    private var isGone = false
    private var waiting: AdminExchange?
    /// Whether the client has received an answer and sent no further request. `onClosed` does not report the timeout of
    /// an idle connection.
    private var isIdle = false

    init(server: AdminServer, descriptor: Int32) {
        self.server = server
        self.descriptor = descriptor
        host = PeerHost(descriptor)
        userID = host == nil ? UnixPeer.userID(descriptor) : nil
        waitingSince = server.nextWaitNumber()
    }

    /// Starts to watch the connection. The server must call `end()` when the connection ends.
    func begin() {
        watch = DescriptorWatch(
            loop: server.loop, descriptor: descriptor, for: .peerGone, action: { [self] in peerClosed() },
            // The server ends the connection.
            abandoned: {})
        startHead()
    }

    func end() {
        watch?.end()
        watch = nil
        endTransfer()
    }

    private func peerClosed() {
        isGone = true
        watch?.end()
        watch = nil
        if let waiting { waiting.abandon() } else { startTransfer() }
    }

    /// Starts the short time limit for the head of the first request.
    func startHead() {
        isIdle = false
        schedule(seconds: min(server.configuration.headSecondsMax, server.configuration.transferSecondsMax))
    }

    /// Starts the time limit for a body, for reading an answer, or for the next request. The time limit is shorter if
    /// the client is gone.
    func startTransfer() {
        waiting = nil
        isIdle = false
        schedule(seconds: server.configuration.transferSecondsMax)
    }

    /// Records that the request has arrived. Until the answer is queued, the server prefers other connections when it
    /// closes a connection to make room.
    func requestArrived() { isOwedAnswer = true }

    /// Records that the answer is queued. From now on, the connection counts as waiting for its client, which has to
    /// read the answer.
    func answerQueued() {
        isOwedAnswer = false
        waitingSince = server.nextWaitNumber()
    }

    /// Records that libmicrohttpd has finished the request, successfully or not, and starts the time limit for the next
    /// request.
    func answered() {
        isOwedAnswer = false
        waitingSince = server.nextWaitNumber()
        startTransfer()
        isIdle = true
    }

    /// Schedules the close of the connection, replacing the previous time limit.
    private func schedule(seconds: Int) {
        endTransfer()
        deadline = server.loop.schedule(after: .seconds(isGone ? min(Self.goneSecondsMax, seconds) : seconds)) {
            [self] in
            server.close(self, isIdle || isGone ? nil : .late)
        }
    }

    private func endTransfer() {
        if let deadline { server.loop.cancel(deadline) }
        deadline = nil
    }

    /// Abandons a pending exchange, and shuts both directions of the socket. libmicrohttpd ends the connection at its
    /// next run.
    func shut() {
        endTransfer()
        waiting?.abandon()
        endTransfer()
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Suspends the time limit until `startTransfer()`, because the server has to answer. Abandons the exchange if the
    /// client is gone. A client that has shut its sending half counts as gone, because the endpoint cannot distinguish
    /// a half-close from a close.
    func wait(for exchange: AdminExchange) {
        endTransfer()
        waiting = exchange
        if isGone { exchange.abandon() }
    }
}
