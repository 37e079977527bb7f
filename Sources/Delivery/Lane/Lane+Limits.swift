import AMQP
import APNS
import EventLoop
import Telemetry

/// Apps with limits: their messages wait for a turn, here if it is near, else at the broker.
extension Lane {
    func sendInTurn(_ sending: PendingPush, _ record: DeliveryRecord) {
        let notification = sending.notification
        // What is not sent now for another reason takes no turn.
        guard !notification.push.isExpired(unixSeconds: loop.now.unixSeconds), !breakers.isHeld(notification.route)
        else { return sendNow(sending, record) }
        let secondsLeft = notification.push.retryDeadline.map { max(0, $0 - loop.now.unixSeconds) }
        let turn = limits.take(
            notification.app, isBack: record.hasWaitedForTurn, secondsLeft: secondsLeft, loop.now.monotonic)
        limitsChanged()
        take(turn, sending, record)
    }

    private func take(_ turn: AppLimit.Turn, _ sending: PendingPush, _ record: DeliveryRecord) {
        switch turn {
        case .now:
            var sending = sending
            sending.turnBegunAt = loop.now.monotonic
            sendNow(sending, record)
        case .here:
            labels.waits(sending.notification.app, atBroker: false)
            turns.add(sending, record)
            if state.isLeaving { giveUpTurns() } else { scheduleCall() }
        case .later(let milliseconds):
            let verdict = waitForTurn(sending.notification, record, milliseconds: milliseconds)
            conclude(sending, by: verdict, record)
        }
    }

    private func waitForTurn(
        _ notification: PushRequest, _ record: DeliveryRecord, milliseconds: Int64
    ) -> Verdict {
        let verdict = policy.hold(
            .appLimit, of: subject(notification, record), turnAfterMilliseconds: milliseconds)
        if case .wait = verdict { labels.waits(notification.app, atBroker: true) }
        return verdict
    }

    /// The push of a message that had its turn has ended, or was not sent after all.
    func endTurn(of app: AppDirectory.Index, begunAt: MonotonicTime) {
        limits.ended(app, begunAt: begunAt, loop.now.monotonic)
        // Whoever is called may end at once: the next is called then, and not a call deeper.
        guard !turns.isCalling else { return }
        callWaiting(app)
        scheduleCall()
    }

    /// To be called when turns may have come.
    private func callWaiting(_ app: AppDirectory.Index) {
        turns.isCalling = true
        while let turn = limits.callNext(app, loop.now.monotonic) {
            guard let (sending, record) = turns.takeFirst(app) else { continue }
            if holds(record) { take(turn, sending, record) } else { leave(turn, sending, record) }
        }
        turns.isCalling = false
        limitsChanged()
    }

    /// Its message lost its channel while it waited: it comes again, perhaps to another worker.
    private func leave(_ turn: AppLimit.Turn, _ sending: PendingPush, _ record: DeliveryRecord) {
        var sending = sending
        if case .now = turn { sending.turnBegunAt = loop.now.monotonic }
        conclude(sending, by: .requeue, record)
    }

    private func scheduleCall() {
        guard let time = limits.nextCall else { return }
        turns.timer.arm(at: time, for: self) {
            $0.assumeIsolated { lane in
                for app in lane.limits.appsWaiting { lane.callWaiting(app) }
                lane.scheduleCall()
            }
        }
    }

    /// Whoever waits for a turn goes back to the broker, which has no other use for what this lane knows of turns.
    func giveUpTurns() {
        let apps = limits.appsWaiting
        limits.forgetWaiting()
        for app in apps {
            while let (sending, record) = turns.takeFirst(app) { conclude(sending, by: .requeue, record) }
        }
        turns.timer.cancel()
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
