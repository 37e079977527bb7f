import AMQP
import APNS
import EventLoop

extension DeliveryPipeline {
    func status(_ configuration: LaneConfiguration) -> LaneStatus {
        LaneStatus(
            number: configuration.number, state: state, inFlight: deliveries.count,
            queues: zip(configuration.consumers, session.consumers).map { configuration, consumer in
                LaneStatus.Queue(
                    name: configuration.queue, isConsumed: consumer.status == .ready,
                    unsettled: consumer.unsettledCount)
            },
            unconfirmed: session.publisher.unconfirmedCount, unpublished: session.publisher.waitingCount,
            pools: dispatcher.pools.map(\.status), breakers: openBreakers,
            pauses: dispatcher.breakers.pauses.map(dispatcher.name(of:)), limitedApps: permits.limitedApps)
    }

    private var openBreakers: [LaneStatus.OpenBreaker] {
        let ofRoutes = dispatcher.breakers.openings.map { scope, opening in
            breaker(
                dispatcher.name(of: scope), opening.cause, since: opening.since, dispatcher.apps(affectedBy: scope))
        }
        let ofStore = expander?.finder.holding.map {
            breaker(DeviceFinder.route, $0.cause, since: $0.since)
        }
        return ofRoutes + [ofStore].compactMap(\.self)
    }

    private func breaker(
        _ route: String, _ cause: HoldReason, since: MonotonicTime, _ apps: [String] = []
    ) -> LaneStatus.OpenBreaker {
        LaneStatus.OpenBreaker(
            route: route, code: cause.code, sentence: cause.sentence,
            secondsOpen: Int(since.duration(to: loop.now.monotonic).components.seconds), apps: apps)
    }
}
