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

    private func choose(_ gates: [StreamGate], isUrgent: Bool = true, latest: Int? = nil) -> Int? {
        var choice = ConnectionChoice(isUrgent: isUrgent, latest: latest)
        for (index, gate) in gates.enumerated() { choice.consider(index: index, gate) }
        return choice.index
    }

    @Test func choosesTheConnectionWithTheFewestRequests() {
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

    @Test func pushesOfAnIterationStayOnOneConnectionUntilAnotherHasFarFewer() {
        #expect(choose([gate(open: 0, of: 1000), gate(open: 63, of: 1000)], latest: 1) == 1)
        #expect(choose([gate(open: 0, of: 1000), gate(open: 64, of: 1000)], latest: 1) == 0)
        // With a low stream limit, the lead is an eighth of the limit.
        #expect(choose([gate(open: 0, of: 100), gate(open: 11, of: 100)], latest: 1) == 1)
        #expect(choose([gate(open: 0, of: 100), gate(open: 12, of: 100)], latest: 1) == 0)
        #expect(choose([gate(open: 0, of: 7), gate(open: 1, of: 7)], latest: 1) == 0)
        // A draining connection has no lead. A connection whose free streams are reserved for urgent pushes has no lead
        // for other pushes.
        let nearlyFull = [gate(open: 895, of: 1000), gate(open: 900, of: 1000)]
        #expect(choose(nearlyFull, isUrgent: false, latest: 1) == 0)
        #expect(choose(nearlyFull, latest: 1) == 1)
        var draining = gate(open: 0, of: 10)
        draining.drain()
        #expect(choose([draining, gate(open: 5, of: 10)], latest: 0) == 1)
    }
}
