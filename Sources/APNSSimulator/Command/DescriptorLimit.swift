import Glibc

/// The process's limit on open file descriptors. Each connection uses one descriptor.
enum DescriptorLimit {
    /// Descriptors reserved for listeners, files and the event loop.
    private static let others = 64

    /// Raises the soft limit to the hard limit. Returns the number of connections that the limit allows; `Int.max` if
    /// the limit cannot be read.
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(1, Int(clamping: limit.rlim_cur) - others)
    }
}
