package import EventLoop

/// The rules that decide when to send a heartbeat on an open connection, and when the broker counts as dead (AMQP
/// 0-9-1, section 4.2.7). The caller calls `beat` every `interval`.
package struct Heartbeat {
    package enum Action: Equatable {
        case none
        /// A heartbeat that is due because nothing was sent for one `interval`.
        case send
        /// The failure of the connection after the broker was silent for `silenceMax`.
        case fail
    }

    /// The longest silence of the broker, which is twice the heartbeat timeout.
    package let silenceMax: Duration
    /// The time between two calls of `beat`, which is half the heartbeat timeout.
    package let interval: Duration

    /// Creates the rules for a heartbeat timeout above zero.
    ///
    /// - Parameter agreed: the heartbeat timeout that both sides agreed on.
    package init(agreed: Duration) {
        silenceMax = agreed * 2
        interval = agreed / 2
    }

    /// Returns the action that is due at `now`.
    ///
    /// - Parameters:
    ///   - isPaused: whether reading is paused. The broker's silence then means nothing.
    ///   - isOutputEmpty: whether no output waits for the socket. A heartbeat behind waiting output would be useless.
    package func beat(
        now: MonotonicTime, lastReceived: MonotonicTime, lastSent: MonotonicTime, isPaused: Bool, isOutputEmpty: Bool
    ) -> Action {
        if !isPaused, lastReceived.duration(to: now) >= silenceMax { return .fail }
        return isOutputEmpty && lastSent.duration(to: now) >= interval ? .send : .none
    }
}
