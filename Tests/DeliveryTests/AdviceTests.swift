import AMQP
import Testing

@testable import Delivery

/// The remedies for errors of the broker.
@Suite struct AdviceTests {
    @Test func aMissingQueueHasTheTopologyAsRemedy() {
        let error = AMQPError(.notFound, "queue push.dead is missing", replyCode: 404)
        #expect(error.advice == "queue push.dead is missing (404): run: martlet topology apply")
    }

    // A topology can only be applied within a virtual host.
    @Test func aMissingVirtualHostHasNoTopologyAsRemedy() {
        let error = AMQPError(.notFound, "NOT_ALLOWED - vhost push not found", replyCode: 530, isRetriable: false)
        #expect(error.advice == "NOT_ALLOWED - vhost push not found (530)")
    }
}
