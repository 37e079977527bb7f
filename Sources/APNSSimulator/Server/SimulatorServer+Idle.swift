import EventLoop

extension SimulatorServer {
    /// Maximum seconds by which an idle connection is closed late. One timer serves all connections.
    private static let idleLatenessSecondsMax = 1

    /// Sends GOAWAY on connections that are idle for too long, and schedules the next check. Only
    /// cancels the timer if the rules do not close idle connections.
    func watchIdle() {
        if let idleTimer { loop.cancel(idleTimer) }
        idleTimer = nil
        guard let secondsMax = state.rules.idleSecondsMax, state.rules.idleEnd == .goAway else { return }
        let now = now.monotonic
        var next: Duration?
        for connection in connectionsInOrder {
            let left = .seconds(secondsMax) - (connection.idleSince ?? now).duration(to: now)
            if left <= .zero { connection.endIdle() } else { next = min(next ?? left, left) }
        }
        guard let next else { return }
        idleTimer = loop.schedule(after: max(next, .seconds(Self.idleLatenessSecondsMax))) { [timerTarget] in
            timerTarget.object?.idleTimer = nil
            timerTarget.object?.watchIdle()
        }
    }
}
