import AMQP
import EventLoop
import Testing

@Suite struct HeartbeatTests {
    private let heartbeat = Heartbeat(agreed: .seconds(20))

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// Returns the action of a beat at second 100.
    private func beat(
        lastReceived: Int64, lastSent: Int64, isPaused: Bool = false, isOutputEmpty: Bool = true
    ) -> Heartbeat.Action {
        heartbeat.beat(
            now: Self.at(100), lastReceived: Self.at(lastReceived), lastSent: Self.at(lastSent), isPaused: isPaused,
            isOutputEmpty: isOutputEmpty)
    }

    @Test func theIntervalIsHalfAHeartbeatAndTheLimitTwo() {
        #expect(heartbeat.interval == .seconds(10))
        #expect(heartbeat.silenceMax == .seconds(40))
    }

    @Test func aHeartbeatIsSentIfNothingElseWas() {
        #expect(beat(lastReceived: 99, lastSent: 91) == .none)
        #expect(beat(lastReceived: 99, lastSent: 90) == .send)
        #expect(beat(lastReceived: 99, lastSent: 0) == .send)
    }

    @Test func noHeartbeatIsSentBehindWaitingOutput() {
        #expect(beat(lastReceived: 99, lastSent: 0, isOutputEmpty: false) == .none)
    }

    @Test func aBrokerThatIsSilentForTwoHeartbeatsIsDead() {
        #expect(beat(lastReceived: 61, lastSent: 99) == .none)
        #expect(beat(lastReceived: 60, lastSent: 99) == .fail)
        #expect(beat(lastReceived: 60, lastSent: 0, isOutputEmpty: false) == .fail)
    }

    @Test func aBrokerIsNotDeadWhileReadingIsPaused() {
        #expect(beat(lastReceived: 0, lastSent: 99, isPaused: true) == .none)
        #expect(beat(lastReceived: 0, lastSent: 0, isPaused: true) == .send)
    }
}
