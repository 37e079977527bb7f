import Configuration
import Crypto
import EventLoop
import Text

extension DoctorCheck {
    /// The check that each key signs and that each certificate is valid. Also checks that only the owner and the group
    /// of a key file can access the file.
    static let keys = DoctorCheck(name: "keys", secondsMax: 5) { context, loop, _ in
        guard let configuration = context.configuration else {
            return [.unseen("keys", "the configuration has mistakes", remedy: "correct the mistakes first")]
        }
        return configuration.apns.keys.map { key in
            let name = "key \(key.keyID) of team \(key.teamID)"
            guard signs(key.privateKey) else {
                return .failure(
                    "keys", "\(name): a signature made with this key does not verify",
                    remedy: "restore the .p8 file from a backup, or create a new key")
            }
            return line("\(name): ES256", file: key.file, mode: key.file.flatMap { mode(of: $0) })
        }
            + configuration.apns.certificates.flatMap { certificate in
                let file = line(
                    "certificate \(certificate.name)", file: certificate.keyPath, mode: mode(of: certificate.keyPath))
                return [file, validity(of: certificate, unixSeconds: loop.now.unixSeconds)]
            }
            + (configuration.registrations.map { registrations in
                [line("keys of registrations", file: registrations.keysFile, mode: mode(of: registrations.keysFile))]
            } ?? [])
    }

    static func validity(of certificate: WorkerConfiguration.APNs.Certificate, unixSeconds: Int64) -> DoctorLine {
        let name = "certificate \(certificate.name)"
        let holds = "\(name) is valid for \(certificate.daysLeft(unixSeconds: unixSeconds).counted("more day"))"
        return switch certificate.validity(unixSeconds: unixSeconds) {
        case .notYet:
            .failure("keys", "\(name) is not valid yet", remedy: "to check this machine's clock, run: timedatectl")
        case .valid: .ok("keys", holds)
        case .ending: .warning("keys", holds, remedy: "create a new certificate in Apple's developer account")
        case .expired:
            .failure("keys", "\(name) has expired", remedy: "create a new certificate in Apple's developer account")
        }
    }

    /// Returns the line about a key file.
    ///
    /// - Parameter mode: nil if the file's status cannot be read.
    static func line(_ name: String, file: String?, mode: UInt32?) -> DoctorLine {
        guard let file else { return .ok("keys", "\(name), not in a file") }
        guard let mode else {
            return .failure(
                "keys", "\(name): \(file) is missing", remedy: "restore the file, which a worker needs to start")
        }
        let octal = String(mode & 0o777, radix: 8)
        guard mode & 0o007 == 0 else {
            return .warning(
                "keys", "\(name), but any user on this machine can access \(file) (mode \(octal))",
                remedy: "make the worker's user the owner of the file, then run: chmod 600 \(Shell.quoted(file))")
        }
        return .ok("keys", "\(name), \(file) (mode \(octal))")
    }

    private static func signs(_ key: ES256PrivateKey) -> Bool {
        let text = Array("martlet doctor".utf8)
        guard let signature = try? key.sign(text), let publicKey = try? key.publicKey() else { return false }
        return publicKey.verify(signature: signature, of: text)
    }
}
