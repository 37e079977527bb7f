import AdminHTTP
import Configuration
import ControlProtocol

/// The refusals of the console's requests.
enum ConsoleErrors {
    static let away = "the broker is away; nothing was changed"

    /// Prints a login code. The packaged unit runs the console as this user, and the control socket admits no other.
    private static let open = "sudo -u martlet-console martlet console open"
    static let login = AdminError(401, "log in first", code: "login", remedy: open)
    static let loginFailed = AdminError(
        401, "the code or token is wrong, used or expired", code: "login_failed", remedy: open)
    static let tooManyLogins = AdminError(429, "too many failed logins; try again later", code: "login_pace")
    static let tooFast = AdminError(429, "too many requests of this session; try again later", code: "pace")

    /// Returns the refusal of a check of requests, for mistakes in the configuration of its rules.
    static func rules(_ error: ConfigurationError) -> AdminError {
        AdminError(
            503, "the console cannot check requests: \(error.mistakes.first?.description ?? "invalid configuration")",
            code: "rules", remedy: "correct the configuration, and restart the console")
    }

    static func role(_ needed: OperatorRole, _ present: OperatorRole) -> AdminError {
        AdminError(403, "the action needs the role \(needed.rawValue), and you have \(present.rawValue)", code: "role")
    }
}
