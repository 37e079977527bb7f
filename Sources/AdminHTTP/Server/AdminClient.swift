import EventLoop
import Glibc

/// One connection: bounds the time in which its client has to get on, and sees when it goes away. libmicrohttpd misses
/// an end that comes together with bytes, and every end while an answer is waited for.
final class AdminClient {
    /// How long what a client sent before it went away may take to be read.
    private static let goneSecondsMax = 1

    /// The peer's host; nil for a Unix socket.
    let host: PeerHost?
    /// Whether a whole request has come whose answer is not queued yet.
    private(set) var isOwedAnswer = false
    /// The place in the order in which connections began to wait for their clients: for a request, or for the client to
    /// read the answer.
    private(set) var waitingSince: Int

    private let server: AdminServer
    private let descriptor: Int32
    private var watch: DescriptorWatch?
    private var deadline: TimerToken?
    private var isGone = false
    private var waiting: AdminExchange?
    /// Whether an idle client may leave the deadline pass: it has had an answer.
    private var isIdle = false

    init(server: AdminServer, descriptor: Int32) {
        self.server = server
        self.descriptor = descriptor
        host = PeerHost(descriptor)
        waitingSince = server.nextWaitNumber()
    }

    /// Begins to watch; to be followed by `end()`.
    func begin() {
        watch = DescriptorWatch(
            loop: server.loop, descriptor: descriptor, for: .peerGone, action: { [self] in wentAway() },
            // The server ends it.
            abandoned: {})
        startHead()
    }

    func end() {
        watch?.end()
        watch = nil
        endTransfer()
    }

    private func wentAway() {
        isGone = true
        watch?.end()
        watch = nil
        if let waiting { waiting.abandon() } else { startTransfer() }
    }

    /// The client sends a head, and has little time for it.
    func startHead() {
        isIdle = false
        schedule(seconds: min(server.configuration.headSecondsMax, server.configuration.transferSecondsMax))
    }

    /// The client sends a body or reads an answer, and has so long for it.
    func startTransfer() {
        waiting = nil
        isIdle = false
        schedule(seconds: server.configuration.transferSecondsMax)
    }

    /// The request is whole: the server does not close the connection for another client while it has a choice.
    func requestCame() { isOwedAnswer = true }

    /// The answer is queued: the client has to read it, and keeps no place by not doing so.
    func answerQueued() {
        isOwedAnswer = false
        waitingSince = server.nextWaitNumber()
    }

    /// The answer is written: the next request may come.
    func answered() {
        isOwedAnswer = false
        waitingSince = server.nextWaitNumber()
        startTransfer()
        isIdle = true
    }

    /// After it the socket is shut: libmicrohttpd sees that.
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

    /// Ends both directions: libmicrohttpd sees that and ends the connection when it runs.
    func shut() {
        endTransfer()
        waiting?.abandon()
        endTransfer()
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The server has the next move, until `startTransfer()`. A client that has ended its half of the connection counts
    /// as gone: those that only do that cannot be told from those that ended.
    func wait(for exchange: AdminExchange) {
        endTransfer()
        waiting = exchange
        if isGone { exchange.abandon() }
    }
}
