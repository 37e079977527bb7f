import AMQP
import EventLoop
import Testing

@Suite struct HeartbeatTests {
    private let heartbeat = Heartbeat(agreed: .seconds(20))

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    /// What a beat at second 100 does.
    private func beat(
        lastReceived: Int64, lastSent: Int64, isPaused: Bool = false, isOutputEmpty: Bool = true
    ) -> Heartbeat.Action {
        heartbeat.beat(
            now: Self.at(100), lastReceived: Self.at(lastReceived), lastSent: Self.at(lastSent), isPaused: isPaused,
            isOutputEmpty: isOutputEmpty)
    }

    @Test func itBeatsEveryHalfHeartbeatAndEndsAfterTwo() {
        #expect(heartbeat.interval == .seconds(10))
        #expect(heartbeat.silenceMax == .seconds(40))
    }

    @Test func oneIsSentWhenNothingElseWas() {
        #expect(beat(lastReceived: 99, lastSent: 91) == .none)
        #expect(beat(lastReceived: 99, lastSent: 90) == .send)
        #expect(beat(lastReceived: 99, lastSent: 0) == .send)
    }

    @Test func oneIsNotSentBehindWhatWaits() {
        #expect(beat(lastReceived: 99, lastSent: 0, isOutputEmpty: false) == .none)
    }

    @Test func aBrokerThatIsSilentForTwoIsDead() {
        #expect(beat(lastReceived: 61, lastSent: 99) == .none)
        #expect(beat(lastReceived: 60, lastSent: 99) == .fail)
        #expect(beat(lastReceived: 60, lastSent: 0, isOutputEmpty: false) == .fail)
    }

    @Test func aBrokerThatIsNotListenedToIsNot() {
        #expect(beat(lastReceived: 0, lastSent: 99, isPaused: true) == .none)
        #expect(beat(lastReceived: 0, lastSent: 0, isPaused: true) == .send)
    }
}
