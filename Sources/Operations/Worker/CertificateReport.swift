import APNSProtocol
import EventLoop
import Telemetry

/// What the log says at the start and once a day: how long certificates hold.
struct CertificateReport {
    static let intervalSeconds = 86_400

    let certificates: [Configuration.APNs.Certificate]

    /// Writes now and from then on once a day.
    ///
    /// - Parameter report: of the certificates that are in force then.
    static func `repeat`(on loop: EventLoop, to log: Log, _ report: @escaping () -> CertificateReport) {
        report().write(to: log, unixSeconds: loop.now.unixSeconds)
        loop.schedule(after: .seconds(intervalSeconds)) { Self.repeat(on: loop, to: log, report) }
    }

    func write(to log: Log, unixSeconds: Int64) {
        for certificate in certificates {
            let fields: KeyValuePairs<LogKey, LogValue?> = [
                .apnsCertificate: .string(certificate.name), .file: .string(certificate.file),
                .certificateDaysLeft: .integer(certificate.daysLeft(unixSeconds: unixSeconds)),
            ]
            switch certificate.validity(unixSeconds: unixSeconds) {
            case .notYet: log.error(.certificateNotYetValid, fields)
            case .expired: log.error(.certificateExpired, fields)
            case .ending: log.warning(.certificateExpiring, fields)
            case .valid: log.info(.certificateValid, fields)
            }
        }
    }
}

extension Configuration.APNs.Certificate {
    enum Validity {
        /// Or this machine's clock is behind.
        case notYet
        case valid
        /// It is worth a warning.
        case ending
        case expired
    }

    private static let warningDays = 30

    func validity(unixSeconds: Int64) -> Validity {
        guard unixSeconds >= contents.validSeconds.lowerBound else { return .notYet }
        return switch daysLeft(unixSeconds: unixSeconds) {
        case ...0: .expired
        case ...Self.warningDays: .ending
        default: .valid
        }
    }

    /// Begun ones count; 0 or less when it has expired.
    func daysLeft(unixSeconds: Int64) -> Int {
        let seconds = contents.validSeconds.upperBound - unixSeconds
        return Int((Double(seconds) / 86_400).rounded(.up))
    }
}
