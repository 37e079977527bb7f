import Glibc
import TestKit

/// A listening socket whose queue is full, so that the kernel answers no further connection attempt.
struct UnansweredListener {
    let port: UInt16
    private let descriptors: [Int32]

    init() throws(ProcessError) {
        port = try FreePort.choose()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        func newSocket() -> Int32 {
            socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        }
        let listener = newSocket()
        var sockets = [listener]
        withUnsafeBytes(of: &address) {
            let pointer = $0.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            bind(listener, pointer, socklen_t($0.count))
            listen(listener, 0)
            for _ in 0..<4 {
                let client = newSocket()
                connect(client, pointer, socklen_t($0.count))
                sockets.append(client)
            }
        }
        descriptors = sockets
    }

    func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
    }
}
