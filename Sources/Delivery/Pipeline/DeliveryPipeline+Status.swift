import AMQP
import APNS
import EventLoop

extension DeliveryPipeline {
    func status(_ configuration: LaneConfiguration) -> LaneStatus {
        LaneStatus(
            number: configuration.number, state: state, inFlight: inFlight,
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
        dispatcher.breakers.openings.map { scope, opening in
            LaneStatus.OpenBreaker(
                route: dispatcher.name(of: scope), code: opening.cause.code, sentence: opening.cause.sentence,
                secondsOpen: Int(opening.since.duration(to: loop.now.monotonic).components.seconds))
        }
    }
}
