import CLinux
import Glibc
import TestKit
import Testing

@testable import EventLoop

@Suite struct UnixSocketTests {
    private func listen(at path: String) async throws {
        try await onEpollLoop { loop in
            let listener = try loop.listen(onSocketAt: path, acceptDescriptor: { close($0) })
            var status = stat()
            #expect(lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK && status.st_mode & 0o777 == 0o600)
            listener.close()
            #expect(access(path, F_OK) != 0)
        }
    }

    @Test func socketIsPrivateAndRemovedWithItsListener() async throws {
        let directory = try TemporaryDirectory()
        try await listen(at: directory.file("a.sock"))
    }

    @Test func otherFilesAreNotReplaced() async throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("martlet.yaml", "amqp: {}\n")
        await #expect(throws: TransportError.self) { try await listen(at: path) }
        #expect(try Files.lines(of: path) == ["amqp: {}"])
    }

    @Test func onlyAnUnusedSocketIsReplaced() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("a.sock")
        let address = try #require(SocketAddress(unix: path))
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        try #require(address.withPointer { bind(descriptor, $0, $1) } == 0 && Glibc.listen(descriptor, 1) == 0)
        await #expect(throws: TransportError.self) { try await listen(at: path) }
        #expect(access(path, F_OK) == 0)
        // A process that another test has just started may still hold the socket.
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        try await listen(at: path)
    }

    @Test func aPathThatIsTooLongIsRejected() async throws {
        let path = "/tmp/" + String(repeating: "x", count: 200)
        await #expect(throws: TransportError.self) { try await listen(at: path) }
    }
}
