import Testing

@testable import APNS

@Suite struct StreamGateTests {
    @Test func oneStreamUntilAnAnswerShowsThatTheTokenWasAccepted() {
        var gate = StreamGate(streamsMax: 500)
        #expect(gate.phase == .connecting)
        #expect(gate.free() == 0)
        gate.settingsReceived(streamsMax: 1000)
        #expect(gate.phase == .probing)
        #expect(gate.free() == 1)
        gate.streamBegan()
        #expect(gate.free() == 0)
        gate.streamEnded(.other)
        #expect(gate.phase == .probing)
        #expect(gate.free() == 1)
        gate.streamBegan()
        gate.streamEnded(.authenticated)
        #expect(gate.phase == .open)
        #expect(gate.free() == 500)
    }

    @Test func thePeersLimitAppliesImmediately() {
        var gate = open(peer: 10)
        for _ in 0..<6 { gate.streamBegan() }
        #expect(gate.free() == 4)
        gate.settingsReceived(streamsMax: 1)
        #expect(gate.free() == 0)
        for _ in 0..<5 { gate.streamEnded(.authenticated) }
        #expect(gate.free() == 0)
        gate.streamEnded(.authenticated)
        #expect(gate.free() == 1)
        gate.settingsReceived(streamsMax: 0)
        #expect(gate.free() == 0)
        gate.settingsReceived(streamsMax: nil)
        #expect(gate.free() == 100, "the configured limit does not apply without the peer's limit")
    }

    @Test func lessUrgentRequestsLeaveATenthFree() {
        var gate = StreamGate(streamsMax: 100)
        gate.settingsReceived(streamsMax: nil)
        #expect(gate.free(isUrgent: false) == 1, "the only stream was reserved")
        gate.streamBegan()
        gate.streamEnded(.authenticated)
        for _ in 0..<89 { gate.streamBegan() }
        #expect(gate.free(isUrgent: false) == 1 && gate.free(isUrgent: true) == 11)
        for _ in 0..<3 { gate.streamBegan() }
        #expect(gate.free(isUrgent: false) == 0 && gate.free(isUrgent: true) == 8)
        gate.settingsReceived(streamsMax: 3)
        #expect(gate.free(isUrgent: true) == 0)
        for _ in 0..<90 { gate.streamEnded(.authenticated) }
        #expect(gate.free(isUrgent: false) == 1, "one of few streams was reserved")
    }

    @Test func aRefusedStreamSlowsDownUntilTheNextAnswer() {
        var gate = open(peer: 10)
        for _ in 0..<3 { gate.streamBegan() }
        gate.streamEnded(.refused)
        #expect(gate.phase == .probing)
        #expect(gate.free() == 0)
        gate.streamEnded(.authenticated)
        #expect(gate.phase == .open)
        #expect(gate.free() == 9)
    }

    @Test func aLimitBelowOneAppliesWhileProbing() {
        var gate = StreamGate(streamsMax: 500)
        gate.settingsReceived(streamsMax: 0)
        #expect(gate.free() == 0)
        gate.settingsReceived(streamsMax: 1)
        #expect(gate.free() == 1)
    }

    @Test(arguments: 1...100) func twoLightLoadsAreNotHeavyOnOneConnection(limit: Int) {
        func use(_ inFlight: Int) -> StreamGate.Use {
            var gate = open(peer: limit)
            for _ in 0..<inFlight { gate.streamBegan() }
            return gate.use
        }
        #expect(use(0) == .light && use(limit) == .heavy)
        let light = (0...limit).filter { use($0) == .light }
        #expect(light.allSatisfy { 2 * $0 > limit || use(2 * $0) != .heavy })
        #expect(light.contains(1) == (limit > 2), "the load of one request is wrong with a limit of \(limit)")
    }

    @Test func noStreamStartsWhileDraining() {
        var gate = open(peer: 10)
        gate.streamBegan()
        gate.drain()
        #expect(gate.free() == 0)
        #expect(!gate.isServing)
        gate.streamEnded(.authenticated)
        gate.settingsReceived(streamsMax: 1000)
        #expect(gate.phase == .draining)
        #expect(gate.free() == 0)
        gate.close()
        gate.drain()
        #expect(gate.phase == .closed)
    }

    @Test(arguments: [
        (200, StreamGate.End.authenticated), (400, .authenticated), (410, .authenticated), (413, .authenticated),
        (403, .answered), (429, .answered), (500, .answered), (503, .answered), (502, .answered), (301, .authenticated),
    ])
    func anAnswersStatusShowsAuthentication(status: Int, end: StreamGate.End) {
        #expect(StreamGate.end(status: status) == end)
    }

    private func open(peer: Int?) -> StreamGate {
        var gate = StreamGate(streamsMax: 100)
        gate.settingsReceived(streamsMax: peer)
        gate.streamBegan()
        gate.streamEnded(.authenticated)
        return gate
    }
}
