import Glibc

/// A dump of the memory of a worker, which holds keys and passwords in the clear.
enum CoreDump {
    /// Limits core files of this process to no bytes. The process stays "dumpable" (prctl(2)): else root would own its files
    /// in /proc, and gdb, which the alerts' guide advises, would need root.
    static func disable() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
