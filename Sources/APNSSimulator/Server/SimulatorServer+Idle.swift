import EventLoop

extension SimulatorServer {
    /// How late an idle connection may be ended, in seconds: they are looked at together.
    private static let idleLatenessSecondsMax = 1

    /// Ends the connections that are idle for too long, and looks again when the next may be.
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
