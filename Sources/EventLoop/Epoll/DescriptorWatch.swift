import CLinux
import Glibc

/// A descriptor of another library that a loop looks at, from `init` to `end()`. Called on the loop's thread only.
public final class DescriptorWatch {
    public enum Event {
        /// There is something to read.
        case readable
        /// The peer has closed the connection, or its sending half.
        case peerGone
    }

    private let loop: EpollLoop
    private var watch: DescriptorRegistration?

    /// Calls `action` in each turn in which `event` holds.
    ///
    /// - Parameter abandoned: called when the loop ends before the watch, on its thread; nothing is watched any more.
    /// - Returns: nil when the kernel cannot watch the descriptor, or no more of them.
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

    /// No more calls; to be done before the descriptor is closed.
    public func end() {
        loop.assertOnLoop()
        if let watch { loop.end(watch) }
        watch = nil
    }
}
