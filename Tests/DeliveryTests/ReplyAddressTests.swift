import BrokerTopology
import Testing

@testable import Delivery

/// The allowed addresses of replies to channel commands.
@Suite struct ReplyAddressTests {
    private let names = TopologyNames(prefix: "push", requestQueues: ["jobs"])
    /// A name in the form that RabbitMQ generates.
    static let direct =
        "amq.rabbitmq.reply-to.g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==.AAECAwQFBgcICQoLDA0ODw=="

    @Test(arguments: [
        (direct, true), ("shop.replies", true), ("shop.", true),
        // Neither a direct reply-to name from RabbitMQ nor an allowed queue.
        ("amq.rabbitmq.reply-to", false), ("amq.gen-x", false), ("replies", false), ("xshop.replies", false),
        // Queues of the topology, even if the prefix allows them.
        ("push.results", false), ("push.dead", false), ("push.anything", false), ("jobs", false),
        ("", false), ("shop." + String(repeating: "x", count: 251), false),
    ])
    func onlyAllowedAddressesAreAccepted(_ replyTo: String, _ isAllowed: Bool) {
        let prefix = replyTo.hasPrefix("push.") || replyTo == "jobs" ? String(replyTo.prefix(2)) : "shop."
        let address = try? ReplyAddress(replyTo, prefix: prefix, names)
        #expect(address?.queue == (isAllowed ? replyTo : nil))
    }

    @Test func withoutAPrefixOnlyDirectReplyToIsAllowed() {
        #expect(throws: RequestViolation.self) { try ReplyAddress("shop.replies", prefix: nil, names) }
        #expect(throws: RequestViolation.self) { try ReplyAddress(nil, prefix: nil, names) }
        #expect((try? ReplyAddress(Self.direct, prefix: nil, names)) != nil)
    }

    @Test(arguments: [
        "g2dkAAtyYWJiaXRAaG9zdAAAAB8AAAABAg==", "g1h3DnJlcGx5QDEyMzQ1Njc4AAAAAAAAAAAAAAAA",
    ])
    func otherFormsOfBrokerNamesAreAllowed(_ process: String) {
        #expect(DirectReplyTo.isWellFormed("amq.rabbitmq.reply-to.\(process).AA=="))
    }

    // RabbitMQ 3.10 crashes a channel that publishes to such a name or passively declares it.
    @Test(arguments: [
        "", ".", "a", "g1h2AA", "g1h2AA.xyz==", "g1h2AA.AA==", "g1h2AA==.AA==", ".AA==", "AA==.", "AA==.AA==",
        // A missing part, an extra part, or missing padding.
        "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==", "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==.AA==.AA==",
        "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==.AA",
        "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg.AA==",
        // A truncated name, a name with an extra byte, a name with an atom that is not UTF-8, and a list.
        "g1h2AA5yZXBseUAxMjM0NTY3OAAAAAAAAAAAAAAA.AA==", "g1h2AA5yZXBseUAxMjM0NTY3OAAAAAAAAAAAAAAAAAA=.AA==",
        "g1h3Av/+AAAAAAAAAAAAAAAA.AA==", "g2wAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAA=.AA==",
        // Base64 for URLs, and excess padding.
        "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==.A_==", "g1h2AA5yZXBseUAxMjM0NTY3OAAAAB8AAAABAAAAAg==.A===",
    ])
    func aMalformedNameOfDirectReplyToIsRefused(_ rest: String) {
        // A configured prefix does not allow a malformed name.
        for prefix in [nil, "amq."] {
            #expect(throws: RequestViolation.self) {
                try ReplyAddress("amq.rabbitmq.reply-to.\(rest)", prefix: prefix, names)
            }
        }
    }
}
