import BrokerTopology
import EventLoop
import TestKit

@testable import Delivery

extension SimulationOracle {
    /// By when a message has to be told: soon after the last thing that could keep it is gone.
    struct Deadline {
        /// Of what nothing holds up: redeliveries, publishes that are repeated.
        private static let usual = Duration.seconds(120)
        /// The longest wait for a breaker twice, and its longest wait for a probe.
        private static let afterHolding = Duration.seconds(360)
        /// The same once requests have been held for ten rounds, which take at least so long.
        private static let afterLongHolding = Duration.seconds(1560)
        private static let long = Duration.seconds(900)
        /// What is held up is given up only when it comes back: the longest wait more.
        private static let lastHoldSeconds = 150
        /// One try: the wait for a connection and that for the answer.
        private static let aTry = Duration.seconds(70)
        /// A wait queue's slowest sibling, in hundredths of its delay.
        private static let siblingPercent = 124

        let report: SimulationReport

        init(_ report: SimulationReport) {
            self.report = report
        }

        /// - Parameter told: when it was: what began later did not keep it.
        func time(
            of publish: SimulationReport.Publish, _ message: SimulatedMessage, _ result: Told, by told: MonotonicTime
        ) -> MonotonicTime {
            var since = publish.at
            var isHeld = message.isForBoundKey
            for disturbance in report.disturbances where disturbance.begins <= told && disturbance.touches(message) {
                since = max(since, disturbance.ends)
                if disturbance.holds, disturbance.ends + Self.afterHolding >= publish.at { isHeld = true }
            }
            if message.isForBoundKey, report.settings.isKeyBoundForGood {
                since = since + .seconds(report.settings.holdSecondsMax + Self.lastHoldSeconds)
            }
            if message.app == report.settings.limitedApp { since = since + turns(of: message.app) }
            let isHeldLong =
                publish.at.duration(to: since) >= Self.long || canSkipToTheLongestRound(message, by: told)
            let afterHolding = isHeldLong ? Self.afterLongHolding : Self.afterHolding
            return since + (isHeld ? afterHolding : Self.usual) + waits(publish, result) + quarantine(publish)
        }

        /// The rounds of a held request become shorter as its expiration comes near. If a worker's clock is then set back, the
        /// request has time for the longest round, although ten rounds have taken less than `long`.
        private func canSkipToTheLongestRound(_ message: SimulatedMessage, by told: MonotonicTime) -> Bool {
            message.kind == .perishable && report.disturbances.contains { $0.isOfClocks && $0.begins <= told }
        }

        /// All messages of an app with limits, if a single lane has them, and as long again: turns are planned for some that
        /// other lanes have sent already.
        private func turns(of app: Int) -> Duration {
            let count = report.publishes.count { report.messages[$0.message].app == app }
            return .seconds(2 * count * SimulatedSettings.limitedSecondsApart)
        }

        /// There messages pass one by one, each confirmed; those that are held up come again.
        private func quarantine(_ publish: SimulationReport.Publish) -> Duration {
            func isIn(_ publish: SimulationReport.Publish) -> Bool {
                publish.putBacks >= DeliveryPipeline.deliveriesMax
            }
            return isIn(publish) ? confirm * (2 * report.publishes.count(where: isIn)) : .zero
        }

        private var confirm: Duration {
            .milliseconds(report.settings.broker.confirmDelayMilliseconds.upperBound)
        }

        /// What its own tries took, each publish confirmed, and Apple's quarter of an hour after each 5xx.
        private func waits(_ publish: SimulationReport.Publish, _ result: Told) -> Duration {
            let delays = WaitDelay.defaults.map(\.seconds)
            // One that only repeats what became of its twin had waited after each of its own.
            let tries = max(0, Int(result.attempts) - (result.isDuplicate ? 0 : 1))
            var seconds = (0..<tries).reduce(0) { $0 + delays[min($1, delays.count - 1)] }
            seconds += report.pushes[publish.message].count { $0.status >= 500 } * 900
            return .seconds(seconds * Self.siblingPercent / 100) + Self.aTry * tries + confirm * (tries + 1)
        }
    }
}
