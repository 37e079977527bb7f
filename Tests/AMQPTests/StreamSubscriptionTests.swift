import Testing

@testable import AMQP

/// The life of a stream reader's consumer as a transcript of events and actions.
@Suite struct StreamSubscriptionTests {
    private static let gone = AMQPError(.connectionLost, "gone")
    private static let deleted = AMQPError(.consumerCancelled, "deleted")

    private struct Script {
        var subscription = StreamSubscription()

        mutating func expect(
            _ event: StreamSubscription.Event, _ actions: [StreamSubscription.Action]?,
            _ state: StreamSubscription.State, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let performed = subscription.handle(event)
            #expect(performed == actions, sourceLocation: sourceLocation)
            #expect(subscription.state == state, sourceLocation: sourceLocation)
        }

        mutating func play(_ events: StreamSubscription.Event...) {
            for event in events { _ = subscription.handle(event) }
        }

        mutating func attach() { play(.channelOpened, .prefetchSet, .consumeAnswered) }

        /// Adds a complete delivery. Returns whether the handler receives the message.
        mutating func deliver(_ tag: UInt64, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
            let isInOrder = subscription.delivered(tag)
            #expect(isInOrder, sourceLocation: sourceLocation)
            return subscription.contentReceived()
        }
    }

    @Test func theReaderAttachesAgainAfterTheLossOfTheChannel() {
        var script = Script()
        for _ in 0..<2 {
            script.expect(.channelOpened, [.setPrefetch], .settingPrefetch)
            script.expect(.prefetchSet, [.consume], .attaching)
            script.expect(.consumeAnswered, [.completeSetup, .reportAttached], .attached)
            script.expect(.channelLost(Self.gone), [.cancelRetry, .reportDetached(Self.gone)], .detached)
        }
    }

    @Test func onlyAnAttachedReaderIsDetached() {
        for eventCount in 0...2 {
            var script = Script()
            for event in [StreamSubscription.Event.channelOpened, .prefetchSet].prefix(eventCount) {
                script.play(event)
            }
            script.expect(.channelLost(Self.gone), [.cancelRetry], .detached)
        }
    }

    @Test func aReaderThatTheBrokerEndedAttachesAgain() {
        var script = Script()
        script.attach()
        script.expect(.endedByBroker(Self.deleted), [.reportDetached(Self.deleted), .interrupt(Self.deleted)], .ended)
        script.expect(.endedByBroker(Self.deleted), [], .ended)
        script.expect(.retryDue, [.consume], .attaching)
        script.expect(.endedByBroker(Self.deleted), [.interrupt(Self.deleted)], .ended)
        script.expect(.retryDue, [.consume], .attaching)
        script.expect(.consumeAnswered, [.completeSetup, .reportAttached], .attached)
        script.expect(.retryDue, [], .attached)
        script.expect(.channelLost(Self.gone), [.cancelRetry, .reportDetached(Self.gone)], .detached)
        script.expect(.retryDue, [], .detached)
    }

    @Test func answersOutOfOrderViolateTheProtocol() {
        var script = Script()
        script.expect(.prefetchSet, nil, .detached)
        script.expect(.consumeAnswered, nil, .detached)
        script.play(.channelOpened)
        script.expect(.consumeAnswered, nil, .settingPrefetch)
        script.expect(.endedByBroker(Self.deleted), nil, .settingPrefetch)
        script.play(.prefetchSet)
        script.expect(.prefetchSet, nil, .attaching)
        script.play(.consumeAnswered)
        script.expect(.consumeAnswered, nil, .attached)
    }

    @Test func deliveriesOutOfOrderViolateTheProtocol() {
        var script = Script()
        expect(!script.subscription.delivered(1), "no channel")
        script.play(.channelOpened)
        expect(!script.subscription.delivered(1), "no consumer")
        script.play(.prefetchSet, .consumeAnswered)
        for tag in [0, 2, UInt64.max] { expect(!script.subscription.delivered(tag), "not the first tag") }
        expect(script.deliver(1))
        for tag in [0, 1, 3, UInt64.max] { expect(!script.subscription.delivered(tag), "not the second tag") }
        expect(script.deliver(2))
    }

    @Test func oneAcknowledgmentCoversAllReceivedMessages() {
        var script = Script()
        script.attach()
        expect(script.subscription.acknowledgment() == nil)
        expect(script.deliver(1))
        expect(script.subscription.acknowledgment() == AckWindow.Ack(tag: 1, multiple: false))
        expect(script.subscription.acknowledgment() == nil)
        for tag in 2...5 { expect(script.deliver(UInt64(tag))) }
        expect(script.subscription.acknowledgment() == AckWindow.Ack(tag: 5, multiple: true))
        // The content of the last delivery has not arrived yet.
        expect(script.deliver(6))
        expect(script.subscription.delivered(7))
        expect(script.subscription.acknowledgment() == AckWindow.Ack(tag: 6, multiple: false))
        expect(script.subscription.acknowledgment() == nil)
    }

    @Test func theNextChannelStartsWithoutUnacknowledgedDeliveries() {
        var script = Script()
        script.attach()
        expect(script.deliver(1))
        script.play(.channelLost(Self.gone))
        expect(script.subscription.acknowledgment() == nil)
        script.attach()
        expect(script.deliver(1))
        expect(script.subscription.acknowledgment() == AckWindow.Ack(tag: 1, multiple: false))
    }

    // The handler knows that the reader is detached, and chooses the position of the next consumer.
    @Test func messagesOfAnEndedConsumerAreOnlyAcknowledged() {
        var script = Script()
        script.attach()
        script.play(.endedByBroker(Self.deleted))
        expect(!script.deliver(1))
        script.play(.retryDue)
        expect(!script.deliver(2))
        expect(script.subscription.acknowledgment() == AckWindow.Ack(tag: 2, multiple: true))
        script.play(.consumeAnswered)
        expect(script.deliver(3))
    }

    @Test func positionsBehindAnOffsetDoNotOverflow() {
        #expect(StreamPosition.behind(7) == .offset(8))
        #expect(StreamPosition.behind(.max) == .next)
        #expect(StreamPosition.offset(.max).argument == .integer(.max))
        #expect(StreamPosition.offset(-1).argument == 0)
        #expect(StreamPosition.time(1_764_300_000).argument == .timestamp(seconds: 1_764_300_000))
        #expect(StreamPosition.time(-1).argument == .timestamp(seconds: 0))
        #expect([StreamPosition.first, .last, .next].map(\.argument) == ["first", "last", "next"])
    }
}
