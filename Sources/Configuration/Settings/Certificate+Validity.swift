import APNSProtocol

extension WorkerConfiguration.APNs.Certificate {
    package enum Validity {
        /// Not valid yet, or the clock of this machine is slow.
        case notYet
        case valid
        /// Expires soon: log a warning.
        case ending
        case expired
    }

    private static let warningDays = 30

    package func validity(unixSeconds: Int64) -> Validity {
        guard unixSeconds >= contents.validSeconds.lowerBound else { return .notYet }
        return switch daysLeft(unixSeconds: unixSeconds) {
        case ...0: .expired
        case ...Self.warningDays: .ending
        default: .valid
        }
    }

    /// Days of validity, rounded up. 0 or less: expired.
    package func daysLeft(unixSeconds: Int64) -> Int {
        let seconds = contents.validSeconds.upperBound - unixSeconds
        return Int((Double(seconds) / 86_400).rounded(.up))
    }
}
