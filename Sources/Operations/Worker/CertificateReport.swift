import APNSProtocol
import Telemetry

/// What the log says at the start and once a day: how long certificates hold.
struct CertificateReport {
    static let intervalSeconds = 86_400
    /// Days before its end from which on a certificate is worth a warning.
    static let warningDays = 30

    let certificates: [Configuration.APNs.Certificate]

    func write(to log: Log, unixSeconds: Int64) {
        for certificate in certificates {
            let days = certificate.daysLeft(unixSeconds: unixSeconds)
            let fields: KeyValuePairs<LogKey, LogValue?> = [
                .apnsCertificate: .string(certificate.name), .file: .string(certificate.file),
                .certificateDaysLeft: .integer(days),
            ]
            switch days {
            case ...0: log.error(.certificateExpired, fields)
            case ...Self.warningDays: log.warning(.certificateExpiring, fields)
            default: log.info(.certificateValid, fields)
            }
        }
    }
}

extension Configuration.APNs.Certificate {
    /// Begun ones count; 0 or less when it has expired.
    func daysLeft(unixSeconds: Int64) -> Int {
        let seconds = contents.validSeconds.upperBound - unixSeconds
        return Int((Double(seconds) / 86_400).rounded(.up))
    }
}
