import BrokerManagement
import EventLoop

extension DoctorCheck {
    /// Provider tokens hold the time, and APNs takes them for an hour. What APNs says of them is told with it.
    static let clock = DoctorCheck(name: "clock", secondsMax: 15) { context, loop, _ in
        guard let management = context.management else {
            return [.unseen("clock", "there is no clock to compare with but that of APNs, which judges tokens")]
        }
        guard case .success(let theirs?) = await management.unixSeconds() else {
            return [.unseen("clock", "the broker's management does not tell the time")]
        }
        return [line(secondsAhead: loop.now.unixSeconds - theirs)]
    }

    private static let skewSecondsOK: Int64 = 10
    private static let skewSecondsMax: Int64 = 600

    /// - Parameter secondsAhead: of the broker's clock; below zero: behind.
    static func line(secondsAhead: Int64) -> DoctorLine {
        let seconds = abs(secondsAhead)
        let text = "this clock is \(seconds) s \(secondsAhead >= 0 ? "ahead of" : "behind") the broker's"
        let remedy = "set both by NTP; APNs refuses tokens of the future and those older than an hour"
        return switch seconds {
        case ...skewSecondsOK: .ok("clock", "as the broker's, within \(skewSecondsOK) s")
        case ...skewSecondsMax: .warning("clock", text, remedy: remedy)
        default: .failure("clock", text, remedy: remedy)
        }
    }
}
