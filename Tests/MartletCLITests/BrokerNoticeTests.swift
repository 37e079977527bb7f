import AMQP
import EventLoop
import Testing

@testable import MartletCLI

@Suite struct BrokerNoticeTests {
    private var notice = BrokerNotice()
    private let endpoint = Endpoint(host: "rabbit", port: 5672)

    @Test mutating func aShortWaitIsNotReported() {
        #expect(notice.changed(to: .connecting(endpoint), now: at(0)) == nil)
        #expect(notice.isWaiting)
        #expect(notice.changed(to: waiting("refused"), now: at(100)) == nil)
        #expect(notice.changed(to: .ready, now: at(900)) == nil)
        #expect(!notice.isWaiting)
    }

    @Test mutating func aSilentBrokerIsReportedAfterASecond() {
        _ = notice.changed(to: .connecting(endpoint), now: at(0))
        #expect(notice.due(now: at(999)) == nil)
        #expect(notice.due(now: at(1000)) == .waiting(sinceUnixSeconds: 54_187, cause: nil))
        #expect(notice.due(now: at(2000)) == nil)
    }

    @Test mutating func eachCauseIsReportedOnce() {
        _ = notice.changed(to: .connecting(endpoint), now: at(0))
        _ = notice.changed(to: waiting("refused"), now: at(10))
        #expect(notice.due(now: at(1000)) == .waiting(sinceUnixSeconds: 54_187, cause: "refused"))
        #expect(notice.changed(to: .connecting(endpoint), now: at(2000)) == nil)
        #expect(notice.changed(to: waiting("refused"), now: at(2010)) == nil)
        #expect(notice.changed(to: waiting("no route"), now: at(3000)) != nil)
        #expect(notice.changed(to: waiting("refused"), now: at(4000)) == nil)
        #expect(notice.changed(to: .ready, now: at(12_345)) == .connected(after: .milliseconds(12_345)))
        #expect(notice.changed(to: .ready, now: at(13_000)) == nil)
    }

    @Test mutating func theNumberOfReportedCausesIsLimited() {
        let lines = (0..<100).compactMap { notice.changed(to: waiting("\($0)"), now: at(2000 * Int64($0))) }
        #expect(lines.count == BrokerNotice.causesMax)
    }

    @Test mutating func anAlarmIsACause() {
        _ = notice.changed(to: .blocked(reason: "low on disk"), now: at(0))
        #expect(
            notice.due(now: at(1000))
                == .waiting(sinceUnixSeconds: 54_187, cause: "publishing blocked: low on disk"))
    }

    @Test func linesContainPlaceAndTime() {
        let endpoints = [endpoint, Endpoint(host: "other", port: 5671)]
        #expect(
            BrokerNotice.Line.waiting(sinceUnixSeconds: 54_187, cause: nil).text(endpoints)
                == "martlet: waiting for the broker at rabbit:5672, other:5671 since 15:03:07 UTC: no response yet")
        let cause = "cannot connect to rabbit:5672: Connection refused"
        #expect(
            BrokerNotice.Line.waiting(sinceUnixSeconds: -1, cause: cause).text(endpoints)
                == "martlet: waiting for the broker since 23:59:59 UTC: \(cause)")
        #expect(
            BrokerNotice.Line.connected(after: .milliseconds(12_345)).text(endpoints)
                == "martlet: broker connected after 12 s")
    }

    private func waiting(_ message: String) -> BrokerStatus {
        .waiting(AMQPError(.cannotConnect, message), delay: .seconds(1))
    }

    /// Returns the time that is `milliseconds` after 15:03:07.
    private func at(_ milliseconds: Int64) -> Now {
        Now(
            monotonic: MonotonicTime(nanoseconds: milliseconds * 1_000_000),
            unixNanoseconds: (54_187_000 + milliseconds) * 1_000_000)
    }
}
