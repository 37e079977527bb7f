import Glibc

/// Free ports for servers that cannot choose a port themselves.
public enum FreePort {
    /// Returns a free port of 127.0.0.1.
    ///
    /// The port is below the kernel's default ephemeral range, so that no outgoing connection uses the port while a
    /// server restarts.
    public static func choose() throws(ProcessError) -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: 10240..<30720)
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            guard socket >= 0 else { break }
            defer { close(socket) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let isFree = withUnsafeBytes(of: &address) {
                bind(
                    socket, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t($0.count)) == 0
            }
            if isFree { return port }
        }
        throw ProcessError(errno, "cannot find a free port")
    }
}
