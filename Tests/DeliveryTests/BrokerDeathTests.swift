import AMQP
import Testing

@testable import Delivery

@Suite struct BrokerDeathTests {
    private func death(_ time: FieldValue?) -> BrokerDeath? {
        var entry: FieldTable = ["reason": "expired", "queue": "push.requests"]
        if let time { entry.append("time", time) }
        return BrokerDeath(["x-death": .array([.table(entry)])])
    }

    @Test func theLastDeathHasItsReasonQueueAndTime() {
        let death = death(.timestamp(seconds: 1_700_000_000))
        #expect(death?.reason == "expired" && death?.queue == "push.requests")
        #expect(death?.unixMilliseconds == 1_700_000_000_000)
        #expect(BrokerDeath([:]) == nil)
    }

    // A producer can also write `x-death`.
    @Test(arguments: [nil, .string("now"), .timestamp(seconds: .max), .timestamp(seconds: 1 << 62)] as [FieldValue?])
    func aTimeOutsideOfTheRangeIsOmitted(time: FieldValue?) {
        let death = death(time)
        #expect(death?.reason == "expired" && death?.unixMilliseconds == nil)
    }
}
