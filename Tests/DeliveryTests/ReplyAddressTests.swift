import Testing

@testable import Delivery

/// Where replies to channel commands may go.
@Suite struct ReplyAddressTests {
    private let names = TopologyNames(prefix: "push", requestQueues: ["jobs"])

    @Test(arguments: [
        ("amq.rabbitmq.reply-to.g1h2AA5yZXBseUA", true), ("shop.replies", true), ("shop.", true),
        // Neither straight back nor allowed.
        ("amq.rabbitmq.reply-to", false), ("amq.gen-x", false), ("replies", false), ("xshop.replies", false),
        // The worker's own, whatever the prefix allows.
        ("push.results", false), ("push.dead", false), ("push.anything", false), ("jobs", false),
        ("", false), ("shop." + String(repeating: "x", count: 251), false),
    ])
    func aReplyGoesWhereItMay(_ replyTo: String, _ isAllowed: Bool) {
        let prefix = replyTo.hasPrefix("push.") || replyTo == "jobs" ? String(replyTo.prefix(2)) : "shop."
        let address = try? ReplyAddress(replyTo, prefix: prefix, names)
        #expect(address?.queue == (isAllowed ? replyTo : nil))
    }

    @Test func withoutAPrefixOnlyStraightBack() {
        #expect(throws: Refusal.self) { try ReplyAddress("shop.replies", prefix: nil, names) }
        #expect(throws: Refusal.self) { try ReplyAddress(nil, prefix: nil, names) }
        #expect((try? ReplyAddress("amq.rabbitmq.reply-to.a", prefix: nil, names)) != nil)
    }
}
