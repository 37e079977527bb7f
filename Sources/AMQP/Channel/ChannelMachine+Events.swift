import EventLoop

extension ChannelMachine {
    enum Event {
        case connectionOpened
        /// An open connection on which the broker allows too few channels.
        case connectionRefused(AMQPError)
        case connectionLost(AMQPError)
        /// The final close of the connection.
        case connectionReleased
        /// `channel.open-ok`
        case openAnswered
        case setupCompleted
        /// `channel.close`
        case closedByBroker(AMQPError)
        /// `channel.close-ok`
        case closeAnswered
        /// The end of the handler's operation, such as its consumer, by the broker.
        case interrupted(AMQPError)
        /// An error that makes the channel unusable, such as misbehavior of the broker. The channel reopens after a
        /// delay.
        case abandon(AMQPError)
        /// The immediate replacement of an open channel.
        case renew(AMQPError)
        /// An answer of the broker that has not arrived by its deadline.
        ///
        /// - Parameter isPaused: whether reading is paused on the connection. The answer may then have arrived
        ///   unread.
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
        /// A notification to the handler that everything in flight on the channel is lost.
        case lose(AMQPError)
        /// A report of the status if it has changed.
        case report
        /// The release of the channel number.
        case detach
    }
}
