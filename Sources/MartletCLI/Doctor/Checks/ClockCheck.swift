import BrokerManagement
import EventLoop

extension DoctorCheck {
    /// The check that compares this machine's clock with the broker's clock. APNs accepts a provider token for an
    /// hour after the time in the token. The APNs check reports refused tokens.
    static let clock = DoctorCheck(name: "clock", secondsMax: 15) { context, loop, _ in
        guard let management = context.management else {
            return [
                .unseen(
                    "clock", "the broker's clock is visible only through the management API",
                    remedy: "set amqp.management_url")
            ]
        }
        return switch await management.unixSeconds() {
        case .success(let theirs?): [line(secondsAhead: loop.now.unixSeconds - theirs)]
        case .success(nil): [unreadable("the response has no valid Date header")]
        case .failure(let failure): [unreadable(failure.message)]
        }
    }

    private static func unreadable(_ reason: String) -> DoctorLine {
        .unseen(
            "clock", "cannot read the broker's time from the management API: \(reason)",
            remedy: "check amqp.management_url and its user")
    }

    private static let skewSecondsOK: Int64 = 10
    private static let skewSecondsMax: Int64 = 600

    /// Returns the line for a difference between the clocks.
    ///
    /// - Parameter secondsAhead: difference from the broker's clock; negative if this machine's clock is behind.
    static func line(secondsAhead: Int64) -> DoctorLine {
        let seconds = abs(secondsAhead)
        let text = "this machine's clock is \(seconds) s \(secondsAhead >= 0 ? "ahead of" : "behind") the broker's"
        let remedy = "synchronize both clocks by NTP; APNs refuses tokens from the future and tokens older than an hour"
        return switch seconds {
        case ...skewSecondsOK: .ok("clock", "within \(skewSecondsOK) s of the broker's clock")
        case ...skewSecondsMax: .warning("clock", text, remedy: remedy)
        default: .failure("clock", text, remedy: remedy)
        }
    }
}
