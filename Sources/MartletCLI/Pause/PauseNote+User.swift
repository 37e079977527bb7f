import Configuration
import ControlProtocol
import Glibc

extension PauseNote {
    /// The user that called `sudo`; otherwise, the user of this process. nil if that user has no name.
    static var user: String? {
        Environment.nonEmpty("SUDO_USER") ?? getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    }
}
