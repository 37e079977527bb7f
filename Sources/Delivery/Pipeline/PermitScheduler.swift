import AMQP
import APNS
import EventLoop
import Telemetry

/// A scheduler that grants permits to requests of apps with limits. A request waits in the lane if its permit is near,
/// otherwise in a wait queue.
///
/// Loop-bound.
final class PermitScheduler {
    private let loop: EventLoop
    private let log: Log
    private let apps: AppDirectory
    private let metrics: LaneMetrics
    private(set) var limits: AppLimits
    private var queues: PermitQueues
    /// Whether permits are being granted. A request that ends in the meantime does not grant the next permit, since
    /// that would recurse.
    private var isGranting = false
    private let timer: DeadlineTimer
    private var reviewTimer: TimerToken?

    init(_ context: LaneContext, _ metrics: LaneMetrics) {
        (loop, log, self.metrics) = (context.loop, context.log, metrics)
        apps = context.configuration.apps
        limits = context.configuration.limits
        queues = PermitQueues(appCount: context.configuration.apps.count)
        timer = DeadlineTimer(on: context.loop)
    }

    func isLimited(_ app: AppDirectory.Index) -> Bool { limits.apply(to: app) }

    func request(_ push: PendingPush, _ record: DeliveryRecord) {
        let (pipeline, request) = (record.pipeline, push.request)
        // An expired or held request is not pushed now, so it uses no permit.
        guard !request.push.isExpired(unixSeconds: loop.now.unixSeconds),
            !pipeline.dispatcher.breakers.isHeld(request.route)
        else { return pipeline.dispatch(push, record) }
        let secondsLeft = request.push.retryDeadline.map { max(0, $0 - loop.now.unixSeconds) }
        let permit = limits.request(
            request.app, hasWaited: record.hasWaitedForPermit, secondsLeft: secondsLeft, loop.now.monotonic)
        logChanges(for: pipeline)
        apply(permit, push, record)
    }

    private func apply(_ permit: AppLimit.Permit, _ push: PendingPush, _ record: DeliveryRecord) {
        let pipeline = record.pipeline
        switch permit {
        case .now:
            var push = push
            push.permitGrantedAt = loop.now.monotonic
            pipeline.dispatch(push, record)
        case .inLane:
            metrics.waits(push.request.app, atBroker: false)
            queues.add(push, record)
            if pipeline.lifecycle.isLeaving { requeueWaiting(in: pipeline) } else { schedule(for: pipeline) }
        case .atBroker(let milliseconds):
            let verdict = pipeline.dispatcher.policy.hold(
                .appLimit, of: pipeline.subject(push.request, record), permitAfterMilliseconds: milliseconds)
            if case .wait = verdict { metrics.waits(push.request.app, atBroker: true) }
            pipeline.conclude(push, by: verdict, record)
        }
    }

    /// Releases the permit of a request whose push has ended or was not sent. Grants the permits of the app that are
    /// due.
    func release(_ app: AppDirectory.Index, grantedAt: MonotonicTime, in pipeline: DeliveryPipeline) {
        limits.ended(app, begunAt: grantedAt, loop.now.monotonic)
        guard !isGranting else { return }
        grant(app, in: pipeline)
        schedule(for: pipeline)
    }

    private func grant(_ app: AppDirectory.Index, in pipeline: DeliveryPipeline) {
        isGranting = true
        while let permit = limits.nextPermit(app, loop.now.monotonic) {
            guard let (push, record) = queues.takeFirst(app) else { continue }
            if pipeline.session.holds(record) { apply(permit, push, record) } else { abandon(permit, push, record) }
        }
        isGranting = false
        logChanges(for: pipeline)
    }

    /// Ends a record whose channel was lost during the wait. The broker redelivers the request, perhaps to another
    /// worker.
    private func abandon(_ permit: AppLimit.Permit, _ push: PendingPush, _ record: DeliveryRecord) {
        var push = push
        if case .now = permit { push.permitGrantedAt = loop.now.monotonic }
        record.pipeline.conclude(push, by: .requeue, record)
    }

    private func schedule(for pipeline: DeliveryPipeline) {
        guard let time = limits.nextPermitTime else { return }
        timer.arm(at: time, for: pipeline) { $0.permits.grantDue(in: $0) }
    }

    private func grantDue(in pipeline: DeliveryPipeline) {
        for app in limits.appsWaiting { grant(app, in: pipeline) }
        schedule(for: pipeline)
    }

    /// Requeues all waiting requests and cancels the timers.
    func requeueWaiting(in pipeline: DeliveryPipeline) {
        let apps = limits.appsWaiting
        limits.forgetWaiting()
        for app in apps {
            while let (push, record) = queues.takeFirst(app) { pipeline.conclude(push, by: .requeue, record) }
        }
        timer.cancel()
        if let timer = reviewTimer.take() { loop.cancel(timer) }
    }

    /// Logs the apps that became limited and the apps that are no longer limited, and schedules the next review.
    private func logChanges(for pipeline: DeliveryPipeline) {
        guard !limits.changes.isEmpty else { return }
        let changes = limits.changes
        limits.changes = []
        for change in changes {
            switch change {
            case .began(let app): log.info(.appLimited, [.app: .string(apps[app].bundleID)])
            case .ended(let app, let length):
                log.info(
                    .appUnlimited,
                    [.app: .string(apps[app].bundleID), .durationMilliseconds: .milliseconds(length)])
            }
        }
        scheduleReview(for: pipeline)
    }

    private func scheduleReview(for pipeline: DeliveryPipeline) {
        guard reviewTimer == nil, !limits.appsLimited.isEmpty, !pipeline.lifecycle.isDraining else { return }
        reviewTimer = loop.schedule(after: .seconds(AppLimit.quietSecondsMin)) { [self] in
            reviewTimer = nil
            limits.review(loop.now.monotonic)
            logChanges(for: pipeline)
            scheduleReview(for: pipeline)
        }
    }

    var limitedApps: [LaneStatus.LimitedApp] {
        limits.appsLimited.compactMap { app in
            guard let limit = limits[app], let since = limit.limitedSince else { return nil }
            let now = loop.now.monotonic
            return LaneStatus.LimitedApp(
                bundleID: apps[app].bundleID, inFlight: limit.inFlight, waiting: limit.waitingCount,
                secondsLimited: Int(since.duration(to: now).components.seconds),
                secondsBehind: Int(limit.backlog(now).components.seconds))
        }
    }
}

extension DeliveryRecord {
    fileprivate var hasWaitedForPermit: Bool {
        delivery.properties.header(MessageHeaderName.reasonCode)?.stringValue == Wait.heldCode(.appLimit)
    }
}
