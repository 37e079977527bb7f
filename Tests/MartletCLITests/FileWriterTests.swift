import CommandKit
import Glibc
import TestKit
import Testing

@testable import MartletCLI

@Suite struct FileWriterTests {
    @Test func aReadyFileCanBeCreatedAgain() throws {
        let directory = try TemporaryDirectory("ready")
        #expect(FileWriter.create(directory.file("ready")) && FileWriter.create(directory.file("ready")))
        #expect(try directory.read("ready") == "")
    }

    @Test func `A FIFO without a reader is a ready file`() throws {
        let directory = try TemporaryDirectory("ready")
        let path = directory.file("ready")
        try #require(mkfifo(path, 0o600) == 0)
        var old = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        try #require(utimensat(AT_FDCWD, path, &old, 0) == 0)
        #expect(FileWriter.create(path))
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mtim.tv_sec > 1)
    }

    // In a folder that other users can write to, a link may refer to a file of this user.
    @Test func aReadyFileFollowsNoLink() throws {
        let directory = try TemporaryDirectory("ready")
        let file = try directory.write("file", "kept")
        for target in [file, directory.file("new")] {
            let link = directory.file("ready")
            try #require(symlink(target, link) == 0)
            #expect(!FileWriter.create(link))
            unlink(link)
        }
        #expect(try directory.read("file") == "kept" && Files.names(in: directory.path) == ["file"])
    }
}
