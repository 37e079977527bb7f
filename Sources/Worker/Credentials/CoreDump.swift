import Glibc

/// Memory dumps of a worker, which contain keys and passwords in plain text.
package enum CoreDump {
    /// Limits core files of this process to 0 bytes. The process stays "dumpable" (prctl(2)). Otherwise, root would own
    /// its files in /proc, and gdb, which the page on alerts recommends, would need root.
    package static func disable() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
}
