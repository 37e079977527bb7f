import EventLoop
import Glibc

/// One connection: bounds the time in which its client has to get on, and sees when it goes away. libmicrohttpd misses
/// an end that comes together with bytes, and every end while an answer is waited for.
final class AdminClient {
    /// How long what a client sent before it went away may take to be read.
    private static let goneSecondsMax = 1

    private let loop: EpollLoop
    private let descriptor: Int32
    private let transferSecondsMax: Int
    private var watch: DescriptorWatch?
    private var deadline: TimerToken?
    private var isGone = false
    private var waiting: AdminExchange?

    init(loop: EpollLoop, descriptor: Int32, transferSecondsMax: Int) {
        self.loop = loop
        self.descriptor = descriptor
        self.transferSecondsMax = transferSecondsMax
    }

    /// Begins to watch; to be followed by `end()`.
    func begin() {
        watch = DescriptorWatch(
            loop: loop, descriptor: descriptor, for: .peerGone, action: { [self] in wentAway() },
            // The server ends it.
            abandoned: {})
        startTransfer()
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

    /// The client has the next move, and so long for it. After it the socket is shut: libmicrohttpd sees that.
    func startTransfer() {
        waiting = nil
        endTransfer()
        let seconds = isGone ? min(Self.goneSecondsMax, transferSecondsMax) : transferSecondsMax
        deadline = loop.schedule(after: .seconds(seconds)) { [descriptor] in _ = shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func endTransfer() {
        if let deadline { loop.cancel(deadline) }
        deadline = nil
    }

    /// The server has the next move, until `startTransfer()`. A client that has ended its half of the connection counts
    /// as gone: those that only do that cannot be told from those that ended.
    func wait(for exchange: AdminExchange) {
        endTransfer()
        waiting = exchange
        if isGone { exchange.abandon() }
    }
}
