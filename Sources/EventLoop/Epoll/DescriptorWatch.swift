import CLinux
import Glibc

/// A watch of another library's descriptor by a loop, from `init` to `end()`. The watch is used on the loop's thread
/// only.
public final class DescriptorWatch {
    public enum Event {
        /// Readability of the descriptor.
        case readable
        /// The close of the connection, or of its sending half, by the peer.
        case peerGone
    }

    private let loop: EpollLoop
    private var watch: DescriptorRegistration?

    /// Creates a watch that calls `action` in each iteration in which `event` applies or the connection has failed.
    ///
    /// - Parameter abandoned: called on the loop's thread if the loop ends before the watch. The watch has then ended,
    ///   too.
    /// - Returns: nil if the kernel cannot watch the descriptor, or the limit of watches is reached.
    public init?(
        loop: EpollLoop, descriptor: Int32, for event: Event, action: @escaping () -> Void,
        abandoned: @escaping () -> Void
    ) {
        self.loop = loop
        let events: EPOLL_EVENTS =
            switch event {
            case .readable: EPOLLIN
            case .peerGone: EPOLLRDHUP
            }
        watch = loop.watch(descriptor, for: events, action: { _ in action() }, abandoned: abandoned)
        if watch == nil { return nil }
    }

    /// Ends the watch. `action` is not called again. Call this function before the descriptor is closed.
    public func end() {
        loop.assertOnLoop()
        if let watch { loop.end(watch) }
        watch = nil
    }
}
