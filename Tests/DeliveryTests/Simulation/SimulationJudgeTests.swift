import Crypto
import EventLoop
import TestKit
import Testing

@testable import Delivery

/// Which waits are allowed, where a seed shows it only now and then.
struct SimulationJudgeTests {
    /// A message of another route waits for as long as nobody knows of it and all that is known is held up.
    @Test func aRouteThatNobodyKnowsMayWaitForThoseThatAreHeldUp() {
        var report = report()
        report.disturbances = [Disturbance(kind: .keyRevoked(known.key), begins: .seconds(100), ends: .seconds(500))]
        // Both workers know of one route: its key is refused, and only half of the time.
        report.pushes[0] = [push(at: 90, by: 1), push(at: 91, by: 2)]
        #expect(wait(report, from: 200, to: 400) == .seconds(201))
        #expect(wait(report, from: 50, to: 400) == .seconds(301), "from the revocation on")

        // One of the workers has pushed on the message's own route, or on another that is not held up.
        report.pushes[1] = [push(at: 95, by: 2)]
        #expect(wait(report, from: 200, to: 400) == .zero)
        // That one has ended, and with it what it knew.
        report.workerEnds[2] = .seconds(300)
        #expect(wait(report, from: 200, to: 400) == .seconds(101))
    }

    @Test func withNothingHeldUpNothingMayWait() {
        var report = report()
        #expect(wait(report, from: 200, to: 400) == .zero)
        report.disturbances = [Disturbance(kind: .brokerRestarts, begins: .seconds(100), ends: .seconds(500))]
        #expect(wait(report, from: 200, to: 400) == .zero)
    }

    private let known: SimulatedMessage
    private let own: SimulatedMessage

    init() {
        var random = SeededRandom(seed: 1)
        var messages: [SimulatedMessage] = []
        while messages.count < 2 {
            let message = SimulatedMessage(
                .alert, number: messages.count, id: UUIDValue(high: 1, low: 1), random: &random)
            if messages.first.map({ $0.key != message.key }) ?? true { messages.append(message) }
        }
        (known, own) = (messages[0], messages[1])
    }

    private func report() -> SimulationReport {
        var random = SeededRandom(seed: 1)
        var report = SimulationReport(seed: 1, settings: SimulatedSettings(random: &random))
        report.messages = [known, own]
        report.pushes = [[], []]
        return report
    }

    private func push(at seconds: Int64, by worker: Int) -> SimulationReport.Push {
        SimulationReport.Push(status: 200, at: .seconds(seconds), unixSeconds: 0, worker: worker)
    }

    private func wait(_ report: SimulationReport, from: Int64, to: Int64) -> Duration {
        SimulationJudge.Deadline(report).wait(of: own, from: .seconds(from), to: .seconds(to))
    }
}

extension MonotonicTime {
    fileprivate static func seconds(_ seconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: seconds * 1_000_000_000)
    }
}
