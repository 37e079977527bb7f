import CLinux
import Glibc

extension ConnectOptions {
    /// Sets the socket's options. Call this function before an outgoing connect, so that TCP announces a window that
    /// fits the buffer. Options that the kernel refuses are ignored.
    func apply(to descriptor: Int32) {
        let (tcp, ip, ipv6) = (Int32(IPPROTO_TCP), Int32(IPPROTO_IP), Int32(IPPROTO_IPV6))
        func set(_ level: Int32, _ option: Int32, _ value: Int) {
            var value = Int32(clamping: value)
            setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        set(tcp, TCP_NODELAY, 1)
        set(tcp, TCP_USER_TIMEOUT, userTimeoutSeconds * 1000)
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        if let keepaliveSeconds {
            set(tcp, TCP_KEEPIDLE, keepaliveSeconds)
            set(tcp, TCP_KEEPINTVL, min(keepaliveSeconds, Self.keepaliveProbeSecondsMax))
        }
        if let sendBufferBytes { set(SOL_SOCKET, SO_SNDBUF, sendBufferBytes) }
        if let receiveBufferBytes { set(SOL_SOCKET, SO_RCVBUF, receiveBufferBytes) }
        if let dscp {
            // The two low bits of the octet belong to congestion notification. An IPv4 socket refuses the second
            // option.
            set(ip, IP_TOS, dscp << 2)
            set(ipv6, IPV6_TCLASS, dscp << 2)
        }
    }

    /// The kernel's default interval between two probes.
    private static let keepaliveProbeSecondsMax = 75
}

extension SourceAddress {
    /// Binds a socket before its connect. Returns 0, or the `errno` of the failure.
    func bind(_ descriptor: Int32) -> Int32 {
        var isLate: Int32 = 1
        // The kernel chooses the port at the connect, so connections to different peers may share a port (ip(7)).
        setsockopt(
            descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, &isLate, socklen_t(MemoryLayout<Int32>.size))
        return socketAddress.withPointer { Glibc.bind(descriptor, $0, $1) } == 0 ? 0 : errno
    }

    /// Returns the addresses of the same IP version as this address.
    func reachable(_ addresses: [SocketAddress]) -> [SocketAddress] {
        addresses.filter { $0.family == socketAddress.family }
    }
}
