import BrokerTopology
import Testing

@Suite struct DeliveryLimitTests {
    @Test(arguments: [
        (nil, nil, "3.10", DeliveryLimit.none), (nil, nil, "4.0", .finite(20)), (nil, "-1", "4.0", .none),
        ("-1", nil, "4.2", .none), ("-1", "5", "4.0", .finite(5)), ("7", "5", "4.0", .finite(5)),
        ("7", nil, "3.13", .finite(7)), ("-1", nil, "3.10", .atOnce), (nil, "0", "4.3", .finite(0)),
        ("-1", "20", "4.0", .finite(20)), ("-1", "-1", "4.0", .none), ("7", "-1", "4.0", .finite(7)),
        ("-1", "5", "3.10", .atOnce),
    ])
    func limitsByArgumentAndPolicy(
        argument: String?, policy: String?, version: String, limit: DeliveryLimit
    ) throws {
        var queue = BrokerSnapshot.Queue()
        queue.arguments["x-delivery-limit"] = argument
        queue.policy["delivery-limit"] = policy
        #expect(DeliveryLimit(queue, try #require(BrokerVersion(version))) == limit)
    }
}
