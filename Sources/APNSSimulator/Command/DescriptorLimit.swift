import Glibc

/// How many descriptors the process may have, of which each connection takes one.
enum DescriptorLimit {
    /// Those that are no connections: listeners, files, the loop.
    private static let others = 64

    /// Raises the limit as far as the system lets it; the connections that fit in.
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(1, Int(clamping: limit.rlim_cur) - others)
    }
}
