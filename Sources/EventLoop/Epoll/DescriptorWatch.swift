import CLinux
import Glibc

/// A watch of another library's descriptor by a loop, from `init` to `end()`. The watch is used on the loop's thread
/// only.
public final class DescriptorWatch {
    public struct Events: OptionSet, Sendable {
        public let rawValue: UInt32

        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        public static let readable = Events(rawValue: EPOLLIN.rawValue)
        public static let writable = Events(rawValue: EPOLLOUT.rawValue)
        /// The close of the connection, or of its sending half, by the peer.
        public static let peerGone = Events(rawValue: EPOLLRDHUP.rawValue)
    }

    private let loop: EpollLoop
    private var watch: DescriptorRegistration?

    /// Creates a watch that calls `action` in each iteration in which one of `events` applies or the connection has
    /// failed.
    ///
    /// - Parameter abandoned: called on the loop's thread if the loop ends before the watch. The watch has then ended,
    ///   too.
    /// - Returns: nil if the kernel cannot watch the descriptor, or the limit of watches is reached.
    public init?(
        loop: EpollLoop, descriptor: Int32, for events: Events, action: @escaping () -> Void,
        abandoned: @escaping () -> Void
    ) {
        self.loop = loop
        watch = loop.watch(
            descriptor, for: EPOLL_EVENTS(rawValue: events.rawValue), action: { _ in action() }, abandoned: abandoned)
        if watch == nil { return nil }
    }

    /// Watches for other events. Makes no system call if the events are the same.
    public func change(to events: Events) {
        loop.assertOnLoop()
        if let watch { loop.change(watch, to: events.rawValue) }
    }

    /// Ends the watch. `action` is not called again. Call this function before the descriptor is closed.
    public func end() {
        loop.assertOnLoop()
        if let watch { loop.end(watch) }
        watch = nil
    }
}
