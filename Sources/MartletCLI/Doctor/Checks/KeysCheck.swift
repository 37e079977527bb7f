import Configuration
import Crypto
import EventLoop
import Text

extension DoctorCheck {
    /// That each key signs, that certificates hold, and that their files are for the worker alone.
    static let keys = DoctorCheck(name: "keys", secondsMax: 5) { context, loop, _ in
        guard let configuration = context.configuration else {
            return [.unseen("keys", "the configuration has mistakes", remedy: "mend those first")]
        }
        return configuration.apns.keys.map { key in
            let name = "key \(key.keyID) of team \(key.teamID)"
            guard signs(key.privateKey) else {
                return .failure(
                    "keys", "\(name): a signature of it does not verify",
                    remedy: "download the .p8 file anew, or make a key")
            }
            return line("\(name): ES256", file: key.file, mode: key.file.flatMap { mode(of: $0) })
        }
            + configuration.apns.certificates.flatMap { certificate in
                let file = line(
                    "certificate \(certificate.name)", file: certificate.keyPath, mode: mode(of: certificate.keyPath))
                return [file, validity(of: certificate, unixSeconds: loop.now.unixSeconds)]
            }
    }

    static func validity(of certificate: WorkerConfiguration.APNs.Certificate, unixSeconds: Int64) -> DoctorLine {
        let name = "certificate \(certificate.name)"
        let holds = "\(name) holds for \(certificate.daysLeft(unixSeconds: unixSeconds)) days more"
        return switch certificate.validity(unixSeconds: unixSeconds) {
        case .notYet: .failure("keys", "\(name) is not valid yet", remedy: "look at this machine's clock: timedatectl")
        case .valid: .ok("keys", holds)
        case .ending: .warning("keys", holds, remedy: "make a new one in Apple's developer account")
        case .expired: .failure("keys", "\(name) has expired", remedy: "make a new one in Apple's developer account")
        }
    }

    /// - Parameter mode: nil when the file cannot be looked at.
    static func line(_ name: String, file: String?, mode: UInt32?) -> DoctorLine {
        guard let file else { return .ok("keys", "\(name), not in a file") }
        guard let mode else {
            return .failure("keys", "\(name): \(file) is gone", remedy: "a worker that starts could not read it")
        }
        let octal = String(mode & 0o777, radix: 8)
        guard mode & 0o007 == 0 else {
            return .warning(
                "keys", "\(name), but everybody on this machine may use \(file) (mode \(octal))",
                remedy: "chmod 600 \(Shell.quoted(file)), and have it belong to the user of the worker")
        }
        return .ok("keys", "\(name), \(file) (mode \(octal))")
    }

    private static func signs(_ key: ES256PrivateKey) -> Bool {
        let text = Array("martlet doctor".utf8)
        guard let signature = try? key.sign(text), let publicKey = try? key.publicKey() else { return false }
        return publicKey.verify(signature: signature, of: text)
    }
}
