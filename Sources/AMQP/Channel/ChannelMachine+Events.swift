import EventLoop

extension ChannelMachine {
    enum Event {
        case connectionOpened
        /// The connection opened and does not carry this channel.
        case connectionRefused(AMQPError)
        case connectionLost(AMQPError)
        /// There will be no other connection.
        case connectionReleased
        /// `channel.open-ok`
        case openAnswered
        case setupCompleted
        /// `channel.close`
        case closedByBroker(AMQPError)
        /// `channel.close-ok`
        case closeAnswered
        /// The broker ended what the handler does.
        case interrupted(AMQPError)
        /// The broker does not do its part: the channel is opened again after a delay.
        case abandon(AMQPError)
        /// Another channel takes the place of an open one at once.
        case renew(AMQPError)
        /// The broker did not answer in time.
        ///
        /// - Parameter isPaused: the connection is not read, so that there may be an answer.
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
        /// What was in flight on the channel is lost.
        case lose(AMQPError)
        /// The status may be another.
        case report
        /// The number of the channel is free.
        case detach
    }
}
