import AMQP
import EventLoop
import Testing

@Suite struct OutageLogTests {
    private static let endpoint = Endpoint(host: "broker", port: 5672)
    private static let refused = BrokerStatus.waiting(AMQPError(.cannotConnect, "refused"), delay: .seconds(1))
    private static let connecting = BrokerStatus.connecting(endpoint)

    /// Returns the lines that are logged for `states`, each of which begins at its second.
    private static func transcript(_ states: [(second: Int, state: BrokerStatus)]) -> [String] {
        var log = OutageLog()
        return states.compactMap { second, state in
            switch log.changed(to: state, now: MonotonicTime(nanoseconds: 0) + .seconds(second)) {
            case .began(let error): "\(second) began: \(error)"
            case .lasts(let error, let length): "\(second) lasts \(length / .seconds(1)): \(error)"
            case .ended(let length): "\(second) ended after \(length / .seconds(1))"
            case nil: nil
            }
        }
    }

    @Test func anOutageIsOneLineAtItsBeginningAndOneAtItsEnd() {
        #expect(
            Self.transcript([
                (0, Self.connecting), (1, .ready), (10, Self.refused), (11, Self.connecting), (11, Self.refused),
                (15, Self.connecting), (15, .ready),
            ]) == ["10 began: refused", "15 ended after 5.0"])
    }

    @Test func aLongOutageIsLoggedOnceAMinute() {
        let states = (0...150).map { ($0, Self.refused) } + [(151, BrokerStatus.ready)]
        #expect(
            Self.transcript(states) == [
                "0 began: refused", "60 lasts 60.0: refused", "120 lasts 120.0: refused", "151 ended after 151.0",
            ])
    }

    @Test func eachOutageHasItsLines() {
        #expect(
            Self.transcript([(0, Self.refused), (2, .ready), (3, Self.refused), (5, .ready), (6, .closed)]) == [
                "0 began: refused", "2 ended after 2.0", "3 began: refused", "5 ended after 2.0",
            ])
    }

    // Outages beyond the limit are logged only if they last until the limit allows another line.
    @Test func aFloodOfOutagesIsLimited() {
        let flood = (0..<20).flatMap { [(2 * $0, Self.refused), (2 * $0 + 1, BrokerStatus.ready)] }
        let logged = (0..<Outage.linesPerMinuteMax).flatMap {
            ["\(2 * $0) began: refused", "\(2 * $0 + 1) ended after 1.0"]
        }
        #expect(
            Self.transcript(flood + [(58, Self.refused), (61, Self.refused), (70, .ready), (200, Self.refused)])
                == logged + ["61 lasts 3.0: refused", "70 ended after 12.0", "200 began: refused"])
    }

    @Test func anAlarmIsAnOutageToo() {
        #expect(
            Self.transcript([(0, .ready), (1, .blocked(reason: "low on memory")), (9, .ready)])
                == ["1 began: the broker accepts no publishes: low on memory", "9 ended after 8.0"])
    }

    @Test func aClosedConnectionHasNoOutage() {
        #expect(Self.transcript([(0, Self.refused), (1, .closed)]) == ["0 began: refused"])
    }
}
