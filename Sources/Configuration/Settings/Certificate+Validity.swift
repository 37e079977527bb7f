import APNSProtocol

extension WorkerConfiguration.APNs.Certificate {
    package enum Validity {
        /// A certificate that is not valid yet according to the machine's clock.
        case notYet
        case valid
        /// A certificate that expires in at most ``warningDays``. The worker logs a warning.
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

    /// Returns the remaining days of validity, rounded up; 0 or less after the expiration.
    package func daysLeft(unixSeconds: Int64) -> Int {
        let seconds = contents.validSeconds.upperBound - unixSeconds
        return Int((Double(seconds) / 86_400).rounded(.up))
    }
}
