import BrokerTopology
import EventLoop
import TestKit

@testable import Delivery

extension SimulationOracle {
    /// The time by which a request must have its result. It is soon after the last disturbance that could delay the
    /// result.
    struct Deadline {
        /// The limit for a request that is not held. It covers redeliveries and repeated publishes.
        private static let usual = Duration.seconds(120)
        /// The limit after a hold of fewer than ten rounds. It is twice the longest wait of the hold, plus the longest
        /// wait for a probe.
        private static let afterHolding = Duration.seconds(360)
        /// The limit after a hold of ten or more rounds. Ten rounds last at least `long`.
        private static let afterLongHolding = Duration.seconds(1560)
        private static let long = Duration.seconds(900)
        /// The maximum time from `holdSecondsMax` until a held request returns from its wait queue. A worker gives up a
        /// held request only when it returns.
        private static let lastHoldSeconds = 150
        /// The maximum time of one attempt. It is the sum of the wait for a connection and the wait for the answer.
        private static let attempt = Duration.seconds(70)
        /// The delay of a wait queue's slowest sibling, in percent of the nominal delay.
        private static let siblingPercent = 124

        let report: SimulationReport

        init(_ report: SimulationReport) {
            self.report = report
        }

        /// Returns the deadline for the result of a publish.
        ///
        /// - Parameter completion: The time at which the request had its result. Later disturbances did not delay the
        ///   result.
        func time(
            of publish: SimulationReport.Publish, _ message: SimulatedMessage, _ result: ReadResult,
            by completion: MonotonicTime
        ) -> MonotonicTime {
            var since = publish.at
            var isHeld = message.isForBoundKey
            for disturbance in report.disturbances
            where disturbance.begins <= completion && disturbance.affects(message) {
                since = max(since, disturbance.ends)
                if disturbance.holds, disturbance.ends + Self.afterHolding >= publish.at { isHeld = true }
            }
            if message.isForBoundKey, report.settings.isKeyBoundForGood {
                since = since + .seconds(report.settings.holdSecondsMax + Self.lastHoldSeconds)
            }
            if message.app == report.settings.limitedApp { since = since + slots(of: message.app) }
            let isHeldLong =
                publish.at.duration(to: since) >= Self.long || canSkipToTheLongestRound(message, by: completion)
            let afterHolding = isHeldLong ? Self.afterLongHolding : Self.afterHolding
            return since + (isHeld ? afterHolding : Self.usual) + waits(publish, result) + quarantine(publish)
        }

        /// Returns whether a request can reach the longest round of holds early.
        ///
        /// The rounds of a held request become shorter before its expiration. If a worker's clock is then set back, the
        /// request has time for the longest round. Ten rounds may then have taken less than `long`.
        private func canSkipToTheLongestRound(_ message: SimulatedMessage, by completion: MonotonicTime) -> Bool {
            message.kind == .perishable && report.disturbances.contains { $0.isOfClocks && $0.begins <= completion }
        }

        /// Returns twice the time that a single lane takes to push all requests of an app with limits.
        ///
        /// The factor 2 covers slots that lanes plan for requests that other lanes have already pushed.
        private func slots(of app: Int) -> Duration {
            let count = report.publishes.count { report.messages[$0.message].app == app }
            return .seconds(2 * count * SimulatedSettings.limitedSecondsApart)
        }

        /// Returns the maximum time that a request spends in the quarantine; zero if the request is not quarantined.
        ///
        /// The quarantine delivers one request at a time, and each request needs a confirm. The factor 2 covers held
        /// requests, which return to the quarantine.
        private func quarantine(_ publish: SimulationReport.Publish) -> Duration {
            func isIn(_ publish: SimulationReport.Publish) -> Bool {
                publish.requeues >= DeliveryPipeline.deliveriesMax
            }
            return isIn(publish) ? confirm * (2 * report.publishes.count(where: isIn)) : .zero
        }

        private var confirm: Duration {
            .milliseconds(report.settings.broker.confirmDelayMilliseconds.upperBound)
        }

        /// Returns the maximum total time of the request's attempts, of the waits between them, and of the confirms.
        ///
        /// Each answer with a 5xx status adds the 15 minutes that Apple requires.
        private func waits(_ publish: SimulationReport.Publish, _ result: ReadResult) -> Duration {
            let delays = WaitDelay.defaults.map(\.seconds)
            // A duplicate that only repeats an outcome had waited after each of its attempts.
            let attempts = max(0, Int(result.attempts) - (result.isDuplicate ? 0 : 1))
            var seconds = (0..<attempts).reduce(0) { $0 + delays[min($1, delays.count - 1)] }
            seconds += report.pushes[publish.message].count { $0.status >= 500 } * 900
            return .seconds(seconds * Self.siblingPercent / 100) + Self.attempt * attempts + confirm * (attempts + 1)
        }
    }
}
