import Testing

@testable import APNSSimulator

@Suite struct StreamGateTests {
    @Test func oneStreamUntilTheFirstAuthenticatedPush() {
        var gate = ServerStreamGate(mode: .enforce, streamsMax: 3)
        #expect(gate.announced == 1)
        #expect(gate.opened() == true)
        #expect(gate.opened() == false)
        gate.closed()
        #expect(gate.authenticated() == true)
        #expect(gate.announced == 3)
        #expect(gate.authenticated() == false)
        gate.closed()
        for _ in 0..<3 { #expect(gate.opened() == true) }
        #expect(gate.opened() == false)
    }

    @Test func announceRefusesNothing() {
        var gate = ServerStreamGate(mode: .announce, streamsMax: 3)
        #expect(gate.announced == 1)
        for _ in 0..<5 { #expect(gate.opened() == true) }
        #expect(gate.authenticated() == true)
        #expect(gate.announced == 3)
    }

    @Test func withoutAGateTheFullNumberIsAnnounced() {
        var gate = ServerStreamGate(mode: .off, streamsMax: 3)
        #expect(gate.announced == 3)
        for _ in 0..<5 { #expect(gate.opened() == true) }
        #expect(gate.authenticated() == false)
    }
}
