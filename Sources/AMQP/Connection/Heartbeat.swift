package import EventLoop

/// Heartbeats of an open connection (AMQP 0-9-1, section 4.2.7): when to say something, and when the broker counts as
/// dead. Pure; `beat` is to be called every `interval`.
package struct Heartbeat {
    package enum Action: Equatable {
        case none
        /// Nothing was sent for a while: send a heartbeat.
        case send
        /// The broker was silent for `silenceMax`.
        case fail
    }

    /// How long the broker may say nothing: two heartbeats.
    package let silenceMax: Duration
    /// Half a heartbeat.
    package let interval: Duration

    /// - Parameter agreed: the heartbeat of both sides.
    package init(agreed: Duration) {
        silenceMax = agreed * 2
        interval = agreed / 2
    }

    /// - Parameters:
    ///   - isPaused: the broker is not listened to, so that its silence says nothing.
    ///   - isOutputEmpty: nothing waits for the socket; behind what waits a heartbeat would be of no use.
    package func beat(
        now: MonotonicTime, lastReceived: MonotonicTime, lastSent: MonotonicTime, isPaused: Bool, isOutputEmpty: Bool
    ) -> Action {
        if !isPaused, lastReceived.duration(to: now) >= silenceMax { return .fail }
        return isOutputEmpty && lastSent.duration(to: now) >= interval ? .send : .none
    }
}
