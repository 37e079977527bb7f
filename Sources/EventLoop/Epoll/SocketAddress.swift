import CLinux
import Glibc

/// An IPv4 or IPv6 address with a port, or the path of a Unix socket, in the kernel's representation.
struct SocketAddress: Sendable, Equatable {
    private var storage = sockaddr_storage()
    private let length: socklen_t

    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        self.length = length
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
    }

    /// Creates the address of a Unix socket. Returns nil if the path is empty or exceeds 107 bytes (unix(7)).
    ///
    /// - Parameter path: the path of a file, or a name in the abstract namespace with a leading `@`.
    init?(unix path: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        // Trailing zeros would be part of an abstract name.
        let unused = isAbstract ? MemoryLayout.size(ofValue: address.sun_path) - bytes.count : 0
        length = socklen_t(MemoryLayout<sockaddr_un>.size - unused)
        withUnsafeBytes(of: address) { source in
            withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: source) }
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var port: UInt16 {
        withUnsafeBytes(of: storage) { bytes in
            // The port has the same offset in both families, in network order.
            UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// Returns the same IP address with another port.
    func with(port: UInt16) -> SocketAddress {
        var other = self
        withUnsafeMutableBytes(of: &other.storage) { bytes in
            bytes[2] = UInt8(port >> 8)
            bytes[3] = UInt8(truncatingIfNeeded: port)
        }
        return other
    }

    static func == (left: SocketAddress, right: SocketAddress) -> Bool {
        withUnsafeBytes(of: left.storage) { left in
            withUnsafeBytes(of: right.storage) { right in left.elementsEqual(right) }
        }
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The address bytes without the port; empty for a Unix socket.
    var hostBytes: [UInt8] {
        withUnsafeBytes(of: storage) { bytes in
            switch family {
            case AF_INET: Array(bytes[4..<8])
            case AF_INET6: Array(bytes[8..<24])
            default: []
            }
        }
    }

    /// Returns the address that `descriptor` is bound to; nil if the kernel reports an error.
    static func local(of descriptor: Int32) -> SocketAddress? { address(of: descriptor, getsockname) }

    /// Returns the address that `descriptor` is connected to; nil if `descriptor` is not connected.
    static func peer(of descriptor: Int32) -> SocketAddress? { address(of: descriptor, getpeername) }

    private static func address(
        of descriptor: Int32,
        _ getName: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                getName(descriptor, address, &length) == 0 ? SocketAddress(address, length: length) : nil
            }
        }
    }
}
