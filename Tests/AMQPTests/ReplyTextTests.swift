import Testing

@testable import AMQP

/// Reply texts of RabbitMQ 3.10 to 4.x.
@Suite struct ReplyTextTests {
    @Test(
        arguments: [
            (404, "NOT_FOUND - no queue 'push.requests' in vhost '/'", .missingQueue("push.requests")),
            (404, "NOT_FOUND - no queue 'it's' in vhost 'a' in vhost 'b'", .missingQueue("it's' in vhost 'a")),
            (404, "NOT_FOUND - no exchange 'results' in vhost '/'", .missingExchange("results")),
            (404, "NOT_FOUND - no exchange 'no queue 'q' in vhost '/'", .missingExchange("no queue 'q")),
            (
                404, "NOT_FOUND - queue 'q' in vhost '/' process is stopped by supervisor",
                nil
            ),
            (404, "NOT_FOUND - no binding q between exchange 'x' in vhost '/' and queue 'q' in vhost '/'", nil),
            (
                403, "ACCESS_REFUSED - access to exchange 'amq.direct' in vhost '/' refused for user 'worker'",
                .refusedResource("amq.direct")
            ),
            (
                403, "ACCESS_REFUSED - write access to exchange 'amq.default' in vhost '/' refused for user 'worker'",
                .refusedResource("amq.default")
            ),
            (403, "ACCESS_REFUSED - access to queue 'q' in vhost '/' refused for user 'w'", .refusedResource("q")),
            (403, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN.", nil),
            (
                406,
                "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received none but current "
                    + "is the value '20' of type 'signedint'", .inequivalentArgument("x-max-length")
            ),
            (
                406,
                "PRECONDITION_FAILED - invalid arg 'x-delivery-limit' for queue 'q' in vhost '/': {value_negative,-1}",
                .invalidArgument("x-delivery-limit")
            ),
            (406, "PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out.", .lateAcknowledgment),
            (
                406, "PRECONDITION_FAILED - user_id property set to 'guest' but authenticated user was 'worker'",
                .refusedUserID
            ),
            (406, "PRECONDITION_FAILED - unknown delivery tag 7", nil),
            (
                406, "PRECONDITION_FAILED - queue 'queue 's' in vhost '/'' does not have a replica on the local node",
                .missingReplica
            ),
            (
                406,
                "PRECONDITION_FAILED - queue 'queue 's' in vhost '/'' does not have a running replica on the local node",
                .missingReplica
            ),
            (406, "inequivalent arg 'x-max-length'", nil),
            (503, "COMMAND_INVALID - unknown exchange type 'x-consistent-hash'", .unknownExchangeType),
            (503, "COMMAND_INVALID - unimplemented method", nil),
            (320, "NOT_FOUND - no queue 'q' in vhost '/'", nil),
        ] as [(UInt16, String, AMQPError.Detail?)])
    func detailsOfReplyTexts(code: UInt16, text: String, detail: AMQPError.Detail?) {
        #expect(ReplyText.detail(code: code, text: text) == detail)
        #expect(AMQPError(replyCode: code, replyText: text).detail == detail)
    }

    @Test func theMessageFollowsFromTheDetail() {
        let missing = AMQPError(replyCode: 404, replyText: "NOT_FOUND - no queue 'q' in vhost '/'")
        #expect(missing.message == "queue q is missing")
        let text = "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q' in vhost '/'"
        #expect(AMQPError(replyCode: 406, replyText: text).message == text)
        #expect(AMQPError(replyCode: 406, replyText: text).refusedArgument == "x-max-length")
        #expect(missing.refusedArgument == nil)
    }
}
