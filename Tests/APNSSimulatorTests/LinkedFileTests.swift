import EventLoop
import Glibc
import TestKit
import Testing

@testable import APNSSimulator

/// Tests that a record does not follow a symbolic link. In a directory that others can write to, a symbolic link may
/// point to one of the user's files.
@Suite struct LinkedFileTests {
    @Test func `A record follows no link`() async throws {
        let directory = try TemporaryDirectory("link")
        let file = try directory.write("file", "kept")
        let link = directory.file("record")
        try #require(symlink(file, link) == 0)
        _ = try await onEpollLoop { loop in
            #expect(throws: TransportError.self) { try RecordFile(path: link, loop: loop) }
        }
        #expect(try directory.read("file") == "kept")
    }

    // All users can write to `/dev/shm`.
    @Test func `A record follows no link in shared memory`() async throws {
        let directory = try TemporaryDirectory("link")
        let file = try directory.write("file", "kept")
        let link = "/dev/shm/martlet-\(getpid()).link"
        try #require(symlink(file, link) == 0)
        defer { unlink(link) }
        _ = try await onEpollLoop { loop in
            #expect(throws: TransportError.self) { try RecordFile(path: link, loop: loop) }
        }
        #expect(try directory.read("file") == "kept")
    }

    @Test func `A record may be a descriptor of the process`() async throws {
        let directory = try TemporaryDirectory("link")
        let descriptor = open(try directory.write("file", "old"), O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        _ = try await onEpollLoop { loop in
            try RecordFile(path: "/dev/fd/\(descriptor)", loop: loop).close()
        }
        #expect(try directory.read("file") == "")
    }

    @Test func `A written text replaces a link`() throws {
        let directory = try TemporaryDirectory("link")
        let file = try directory.write("file", "kept")
        let path = directory.file("text")
        for link in [path, "\(path).\(getpid()).tmp"] { try #require(symlink(file, link) == 0) }
        try TextFile.write("new", to: path)
        #expect(try directory.read("file") == "kept" && directory.read("text") == "new")
    }
}
