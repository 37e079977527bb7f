import Configuration
import ControlProtocol
import Glibc

extension PauseNote {
    /// The user of this process, or the user that called `sudo`.
    static var user: String? {
        Environment.nonEmpty("SUDO_USER") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    }
}
