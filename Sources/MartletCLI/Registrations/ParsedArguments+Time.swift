import CommandKit
import RegistrationTools
import Registrations

extension ParsedArguments {
    /// Reads an option whose value is a time of a registration, in UNIX milliseconds. Returns nil if the option is
    /// missing.
    func registrationTime(_ name: String) throws(UsageError) -> Int64? {
        guard let text = options[name] else { return nil }
        guard let time = RegistrationTime.milliseconds(text) else {
            throw UsageError(
                "option --\(name): expected UNIX milliseconds or a time such as 2026-11-29T17:00:00Z, got '\(text)'")
        }
        guard RegistrationLimits.times.contains(time) else {
            throw UsageError(
                "option --\(name): expected a time from 2001-09-09T01:46:40Z to 2286-11-20T17:46:39Z, got '\(text)'")
        }
        return time
    }
}
