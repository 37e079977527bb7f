import APNSProtocol
import EventLoop
import Telemetry

/// Log lines about the remaining validity of certificates, written at the start and once a day.
struct CertificateReport {
    static let intervalSeconds = 86_400

    let certificates: [Configuration.APNs.Certificate]

    /// Writes the lines now and then once a day.
    ///
    /// - Parameter report: returns the report of the certificates in force.
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
        /// Not valid yet, or the clock of this machine is slow.
        case notYet
        case valid
        /// Ends soon: log a warning.
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

    /// Days of validity, rounded up. 0 or less: expired.
    func daysLeft(unixSeconds: Int64) -> Int {
        let seconds = contents.validSeconds.upperBound - unixSeconds
        return Int((Double(seconds) / 86_400).rounded(.up))
    }
}
