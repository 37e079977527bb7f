/// A pure state machine that decides when a stream reader consumes on its current channel, and which deliveries the
/// reader acknowledges.
///
/// The reader receives its deliveries in order and acknowledges them in this order. One acknowledgment thus covers all
/// messages that the handler has received, and two delivery tags describe every unacknowledged delivery.
struct StreamSubscription {
    /// The state of the consumer. Each case lists its possible next states after "To:". In addition, the loss of the
    /// channel leads to `detached` from every state.
    enum State: Equatable {
        /// A reader without an open channel. To: settingPrefetch.
        case detached
        /// The wait for the answer to `basic.qos`. To: attaching.
        case settingPrefetch
        /// The wait for the answer to `basic.consume`. To: attached, ended.
        case attaching
        /// A running consumer. To: ended.
        case attached
        /// A consumer that the broker ended. The next consumer starts after a delay. To: attaching.
        case ended
    }

    enum Event {
        case channelOpened
        case channelLost(AMQPError)
        /// `basic.qos-ok`
        case prefetchSet
        /// `basic.consume-ok`
        case consumeAnswered
        /// `basic.cancel`, after the stream was deleted or its replica was lost.
        case endedByBroker(AMQPError)
        case retryDue
    }

    enum Action: Equatable {
        case setPrefetch
        /// A request for the handler's position, and the `basic.consume` with this position.
        case consume
        /// The completion of the channel's setup, which reports the status `ready`.
        case completeSetup
        case reportAttached
        case reportDetached(AMQPError)
        /// The interruption of the channel, and a retry after the channel's delay.
        case interrupt(AMQPError)
        case cancelRetry
    }

    private(set) var state = State.detached
    /// The tag of the last delivery on this channel.
    private var deliveredTag: UInt64 = 0
    /// The tag of the last delivery whose content has arrived.
    private var receivedTag: UInt64 = 0
    private var acknowledgedTag: UInt64 = 0

    /// Updates the state after an event, and returns the actions to perform, in order. Returns nil if the event
    /// violates the protocol.
    mutating func handle(_ event: Event) -> [Action]? {
        switch (event, state) {
        case (.channelOpened, _):
            self = StreamSubscription()
            state = .settingPrefetch
            return [.setPrefetch]
        case (.channelLost(let error), _):
            let wasAttached = state == .attached
            self = StreamSubscription()
            return wasAttached ? [.cancelRetry, .reportDetached(error)] : [.cancelRetry]
        case (.prefetchSet, .settingPrefetch), (.retryDue, .ended):
            state = .attaching
            return [.consume]
        case (.consumeAnswered, .attaching):
            state = .attached
            return [.completeSetup, .reportAttached]
        case (.endedByBroker(let error), .attached):
            state = .ended
            return [.reportDetached(error), .interrupt(error)]
        case (.endedByBroker(let error), .attaching):
            state = .ended
            return [.interrupt(error)]
        case (.endedByBroker, .ended), (.retryDue, _): return []
        case (.prefetchSet, _), (.consumeAnswered, _), (.endedByBroker, _): return nil
        }
    }

    /// Adds a delivery, whose content follows. Returns false if the delivery violates the protocol.
    mutating func delivered(_ tag: UInt64) -> Bool {
        guard tag == deliveredTag &+ 1 else { return false }
        switch state {
        case .detached, .settingPrefetch: return false
        case .attaching, .attached, .ended:
            deliveredTag = tag
            return true
        }
    }

    /// Makes the last delivery ready for its acknowledgment. Returns whether the handler receives the message. The
    /// handler receives no message of a consumer that has not started or has ended.
    mutating func contentReceived() -> Bool {
        receivedTag = deliveredTag
        return state == .attached
    }

    /// Returns the acknowledgment of all messages received since the last call; nil if there are none.
    mutating func acknowledgment() -> AckWindow.Ack? {
        let count = receivedTag - acknowledgedTag
        guard count > 0 else { return nil }
        acknowledgedTag = receivedTag
        return AckWindow.Ack(tag: receivedTag, multiple: count > 1)
    }
}
