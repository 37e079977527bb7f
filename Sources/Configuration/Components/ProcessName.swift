import Glibc

/// The name of this process for operators.
package enum ProcessName {
    /// The host and process ID, such as `push-1/4711`. The host is `-` if it is unknown.
    package static var current: String {
        let host = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { name in
            name.initialize(repeating: 0)
            guard let start = name.baseAddress, gethostname(start, name.count - 1) == 0 else { return "-" }
            return String(cString: start)
        }
        return "\(host)/\(getpid())"
    }
}
