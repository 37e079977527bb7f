package import EventLoop
import Glibc

extension Endpoint {
    /// Whether the host is a loopback address, in any numeric form that `getaddrinfo` accepts: `2130706433`, `0x7f.1`,
    /// `::ffff:127.0.0.1`.
    package var isLoopback: Bool {
        var four = in_addr()
        if inet_aton(host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }
}
