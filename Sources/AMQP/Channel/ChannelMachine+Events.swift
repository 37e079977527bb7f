import EventLoop

extension ChannelMachine {
    enum Event {
        case connectionOpened
        /// The connection opened, but the broker allows too few channels on it.
        case connectionRefused(AMQPError)
        case connectionLost(AMQPError)
        /// The connection is closed for good.
        case connectionReleased
        /// `channel.open-ok`
        case openAnswered
        case setupCompleted
        /// `channel.close`
        case closedByBroker(AMQPError)
        /// `channel.close-ok`
        case closeAnswered
        /// The broker ended the handler's operation.
        case interrupted(AMQPError)
        /// The broker misbehaves on the channel. The channel reopens after a delay.
        case abandon(AMQPError)
        /// Replaces an open channel immediately.
        case renew(AMQPError)
        /// The broker did not answer in time.
        ///
        /// - Parameter isPaused: the connection is not being read, so an unread answer may exist.
        case deadlinePassed(isPaused: Bool)
        case retryDue
        case close(deadlineSeconds: Int)
    }

    enum Action: Equatable {
        case send(ClientMethod)
        case setUp
        case armDeadline(seconds: Int)
        case cancelDeadline
        case armRetry(MonotonicTime)
        case cancelRetry
        case failConnection(AMQPError)
        /// Notifies the handler that everything in flight on the channel is lost.
        case lose(AMQPError)
        /// The status may have changed.
        case report
        /// Releases the channel number.
        case detach
    }
}
