import CLinux
import Glibc

/// A failure of the system to start another thread.
public struct ThreadError: Error {
    /// The error number that `pthread_create` returned.
    public let code: Int32

    public var message: String {
        "cannot start a thread: " + (strerror(code).map { String(cString: $0) } ?? "error \(code)")
    }
}
