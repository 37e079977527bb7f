import Configuration
import EventLoop
import Telemetry

/// Log lines about the validity of certificates.
struct CertificateReport {
    static let intervalSeconds = 86_400

    let certificates: [WorkerConfiguration.APNs.Certificate]

    /// Writes the lines immediately, and again once a day.
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
