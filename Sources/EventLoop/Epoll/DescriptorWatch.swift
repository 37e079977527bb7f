import CLinux
import Glibc

/// A descriptor of another library that a loop watches, from `init` to `end()`. Used on the loop's thread only.
public final class DescriptorWatch {
    public enum Event {
        /// The descriptor is readable.
        case readable
        /// The peer has closed the connection, or its sending half.
        case peerGone
    }

    private let loop: EpollLoop
    private var watch: DescriptorRegistration?

    /// Calls `action` in each iteration in which `event` applies.
    ///
    /// - Parameter abandoned: called on the loop's thread if the loop ends before the watch, which has ended then.
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

    /// Ends the watch; no further calls. Call it before the descriptor is closed.
    public func end() {
        loop.assertOnLoop()
        if let watch { loop.end(watch) }
        watch = nil
    }
}
