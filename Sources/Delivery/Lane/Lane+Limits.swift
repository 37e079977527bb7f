import AMQP
import APNS
import EventLoop
import Telemetry

/// Apps with limits: their messages wait for a turn, here if it is near, else at the broker.
extension Lane {
    /// Sends a push when it is its app's turn.
    @inline(never) func sendInTurn(_ notification: PushNotification, _ record: DeliveryRecord) async -> Verdict {
        // What is not sent now for another reason takes no turn.
        guard !notification.push.isExpired(unixSeconds: loop.now.unixSeconds), !breakers.isHeld(notification.route)
        else { return await send(notification, record, isItsTurn: true) }
        routeUse.used(notification.route, loop.now.monotonic)
        switch await turn(of: notification, record) {
        case nil: return .requeue
        case .later(let milliseconds): return waitForTurn(notification, record, milliseconds: milliseconds)
        case .now, .here: break
        }
        let begunAt = loop.now.monotonic
        let verdict = await send(notification, record, isItsTurn: true)
        limits.ended(notification.app, begunAt: begunAt, loop.now.monotonic)
        callWaiting(notification.app)
        scheduleCall()
        return verdict
    }

    /// nil: the lane ends.
    private func turn(of notification: PushNotification, _ record: DeliveryRecord) async -> AppLimit.Turn? {
        let app = notification.app
        let secondsLeft = notification.push.expiration.map { max(0, $0 - loop.now.unixSeconds) }
        let turn = limits.take(app, isBack: record.hasWaitedForTurn, secondsLeft: secondsLeft, loop.now.monotonic)
        limitsChanged()
        guard case .here = turn else { return turn }
        labels.waits(app, atBroker: false)
        return await withUnsafeContinuation { waiter in
            turns.add(waiter, app)
            if state.isDraining { giveUpTurns() } else { scheduleCall() }
        }
    }

    /// To be called when turns may have come.
    private func callWaiting(_ app: AppDirectory.Index) {
        while let turn = limits.callNext(app, loop.now.monotonic) { turns.takeFirst(app)?.resume(returning: turn) }
        limitsChanged()
    }

    /// One timer for all: it may fire when whom it was for waits no more, but never late.
    private func scheduleCall() {
        guard let time = limits.nextCall else { return }
        if let timer = turns.timer {
            guard time < timer.time else { return }
            loop.cancel(timer.token)
        }
        let token = loop.schedule(at: time) {
            self.assumeIsolated { lane in
                lane.turns.timer = nil
                for app in lane.limits.appsWaiting { lane.callWaiting(app) }
                lane.scheduleCall()
            }
        }
        turns.timer = (token, time)
    }

    /// Whoever waits for a turn goes back to the broker, which has no other use for what this lane knows of turns.
    func giveUpTurns() {
        let apps = limits.appsWaiting
        limits.forgetWaiting()
        for app in apps { while let waiter = turns.takeFirst(app) { waiter.resume(returning: nil) } }
        if let timer = turns.timer.take() { loop.cancel(timer.token) }
        if let timer = turns.reviewTimer.take() { loop.cancel(timer) }
    }

    /// Logs which apps have begun to be limited, or are no longer.
    private func limitsChanged() {
        guard !limits.changes.isEmpty else { return }
        let changes = limits.changes
        limits.changes = []
        for change in changes {
            switch change {
            case .began(let app):
                log.info(.appLimited, [.app: .string(configuration.apps[app].bundleID)])
            case .ended(let app, let length):
                log.info(
                    .appUnlimited,
                    [
                        .app: .string(configuration.apps[app].bundleID),
                        .durationMilliseconds: .milliseconds(length),
                    ])
            }
        }
        scheduleReview()
    }

    private func scheduleReview() {
        guard turns.reviewTimer == nil, !limits.appsLimited.isEmpty, !state.isDraining else { return }
        turns.reviewTimer = loop.schedule(after: .seconds(AppLimit.quietSecondsMin)) {
            self.assumeIsolated { lane in
                lane.turns.reviewTimer = nil
                lane.limits.review(lane.loop.now.monotonic)
                lane.limitsChanged()
                lane.scheduleReview()
            }
        }
    }

    var limitedApps: [LaneStatus.LimitedApp] {
        limits.appsLimited.compactMap { app in
            guard let limit = limits[app], let since = limit.limitedSince else { return nil }
            let now = loop.now.monotonic
            return LaneStatus.LimitedApp(
                bundleID: configuration.apps[app].bundleID, inFlight: limit.inFlight, waiting: limit.waitingCount,
                secondsLimited: Int(since.duration(to: now).components.seconds),
                secondsBehind: Int(limit.backlog(now).components.seconds))
        }
    }
}

extension DeliveryRecord {
    /// Whether it comes from a wait that was planned by its app's limits.
    fileprivate var hasWaitedForTurn: Bool {
        delivery.properties.header(MessageHeaderName.reasonCode)?.stringValue == Wait.heldCode(.appLimit)
    }
}
