import APNSProtocol
import Crypto
import EventLoop
import Testing

@testable import APNS

@Suite struct ConnectionChoiceTests {
    private func gate(open count: Int, of limit: Int) -> StreamGate {
        var gate = StreamGate(streamsMax: limit)
        gate.settingsReceived(streamsMax: nil)
        gate.streamBegan()
        gate.streamEnded(.authenticated)
        for _ in 0..<count { gate.streamBegan() }
        return gate
    }

    private func choose(_ gates: [StreamGate], isUrgent: Bool = true) -> Int? {
        var choice = ConnectionChoice(isUrgent: isUrgent)
        for (index, gate) in gates.enumerated() { choice.consider(index: index, gate) }
        return choice.index
    }

    @Test func theConnectionWithTheFewestRequestsIsChosen() {
        #expect(choose([]) == nil)
        #expect(choose([gate(open: 5, of: 10), gate(open: 3, of: 10), gate(open: 4, of: 10)]) == 1)
        #expect(choose([gate(open: 3, of: 3), gate(open: 9, of: 10)]) == 1)
        #expect(choose([gate(open: 3, of: 3), StreamGate(streamsMax: 5)]) == nil)
        var draining = gate(open: 0, of: 10)
        draining.drain()
        #expect(choose([draining, gate(open: 9, of: 10)]) == 1)
        #expect(choose([gate(open: 9, of: 10)], isUrgent: false) == nil)
        #expect(choose([gate(open: 9, of: 10), gate(open: 10, of: 20)], isUrgent: false) == 1)
    }
}
