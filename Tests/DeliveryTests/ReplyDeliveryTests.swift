import AMQP
import BrokerTopology
import Testing

@testable import Delivery

/// The destinations and repeats of a reply.
@Suite struct ReplyDeliveryTests {
    private static let direct = ReplyAddressTests.direct

    private func reply(to replyTo: String?) -> ReplyDelivery {
        var message = OutgoingMessage(exchange: "", routingKey: "", body: [], messageID: "m")
        message.correlationID = "c"
        let address = try? ReplyAddress(replyTo, prefix: "shop.", TopologyNames())
        return ReplyDelivery(message, to: address, orElse: ("push.results", "result.channel.a"))
    }

    private static func lost(isRetriable: Bool = true) -> PublishOutcome {
        .unknown(AMQPError(.connectionLost, "gone", isRetriable: isRetriable))
    }

    @Test func aReplyToAMissingQueueIsRedirected() {
        var reply = reply(to: "shop.a")
        #expect(reply.message.exchange == "" && reply.message.routingKey == "shop.a" && reply.consumer == nil)
        #expect(reply.ended(.returned(code: 312, text: "NO_ROUTE")) == .redirected("receiver not found"))
        #expect(reply.message.exchange == "push.results" && reply.message.routingKey == "result.channel.a")
        #expect(reply.message.correlationID == "c" && reply.ended(.confirmed) == .done)
    }

    // The broker returns delivered and undeliverable replies alike. The worker has already checked that the
    // consumer exists.
    @Test func aReturnedReplyToADirectConsumerIsDelivered() {
        var reply = reply(to: Self.direct)
        #expect(reply.consumer == Self.direct && reply.destination == "direct reply-to")
        #expect(reply.ended(.returned(code: 312, text: "NO_ROUTE")) == .done)
        #expect(reply.consumerMissing() == .redirected("receiver not found"))
        #expect(reply.consumer == nil && reply.message.exchange == "push.results")
        #expect(reply.ended(.returned(code: 312, text: "NO_ROUTE")) == .again(milliseconds: 100))
    }

    @Test(arguments: [PublishOutcome.nacked, lost()])
    func aRefusingQueueIsGivenUpAfterRepeats(_ outcome: PublishOutcome) {
        var reply = reply(to: "shop.full")
        let steps = (0..<4).map { _ in reply.ended(outcome) }
        #expect(
            steps == [100, 200, 400].map { .again(milliseconds: $0) } + [.redirected(outcome.advice)])
        // At the result exchange, the reply is repeated without a limit.
        let further = (0..<9).map { _ in reply.ended(outcome) }
        #expect(further.first == .again(milliseconds: 100) && further.last == .again(milliseconds: 10_000))
        #expect(reply.message.exchange == "push.results")
    }

    @Test func aForbiddenPublishIsNotRepeated() {
        var reply = reply(to: "shop.a")
        guard case .redirected = reply.ended(Self.lost(isRetriable: false)) else {
            Issue.record("\(reply)")
            return
        }
        #expect(reply.ended(Self.lost(isRetriable: false)) == .again(milliseconds: 100))
    }

    // The broker crashed the channel and would crash the next channel.
    @Test func anInternalErrorIsNotRepeated() {
        for address in [Self.direct, "shop.a"] {
            var reply = reply(to: address)
            let crash = PublishOutcome.unknown(AMQPError(.connectionLost, "INTERNAL_ERROR", replyCode: 541))
            #expect(reply.ended(crash) == .redirected(crash.advice))
            #expect(reply.message.exchange == "push.results")
            #expect(reply.ended(crash) == .again(milliseconds: 100))
        }
    }

    // An unavailable broker is no evidence against the queue.
    @Test func anUnsentReplyIsRepeated() {
        var reply = reply(to: "shop.a")
        let away = PublishOutcome.notSent(AMQPError(.timedOut, "not connected"))
        for _ in 0..<10 {
            guard case .again = reply.ended(away) else {
                Issue.record("\(reply)")
                return
            }
        }
        #expect(reply.message.routingKey == "shop.a")
        #expect(reply.ended(.nacked) == .redirected(PublishOutcome.nacked.advice))
    }

    @Test func anUnencodableReplyOmitsTheProducersProperties() {
        var reply = reply(to: "shop.a")
        #expect(reply.ended(.refused(.shortStringTooLong)) == .redirected("shortStringTooLong"))
        #expect(reply.message.correlationID == nil && reply.message.messageID == "-")
        #expect(reply.message.exchange == "push.results")
        #expect(reply.ended(.refused(.shortStringTooLong)) == .impossible(.shortStringTooLong))
    }

    @Test func aReplyWithoutAnAddressIsPublishedToTheResults() {
        #expect(reply(to: nil).message.exchange == "push.results")
    }
}
