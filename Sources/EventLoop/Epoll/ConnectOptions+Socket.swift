import CLinux
import Glibc

extension ConnectOptions {
    /// Sets what concerns the socket. An option that the kernel refuses is left as it is.
    func apply(to descriptor: Int32) {
        func set(_ level: Int32, _ option: Int32, _ value: Int) {
            var value = Int32(clamping: value)
            setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, userTimeoutSeconds * 1000)
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        guard let keepaliveSeconds else { return }
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, keepaliveSeconds)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, min(keepaliveSeconds, Self.keepaliveProbeSecondsMax))
    }

    /// The kernel's own time between two probes.
    private static let keepaliveProbeSecondsMax = 75
}
