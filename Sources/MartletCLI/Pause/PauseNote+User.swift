import Configuration
import ControlProtocol
import Glibc

extension PauseNote {
    /// The operator in commands and pauses of the fleet, which require a name.
    static var operatorName: String { user ?? "unknown" }

    /// The user that called `sudo`; otherwise, the user of this process. nil if that user has no name.
    static var user: String? {
        Environment.nonEmpty("SUDO_USER") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    }
}
