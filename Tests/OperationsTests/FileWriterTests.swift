import Glibc
import TestKit
import Testing

@testable import Operations

@Suite struct FileWriterTests {
    @Test func aReadyFileIsMadeOnceMore() throws {
        let directory = try TemporaryDirectory("ready")
        #expect(FileWriter.create(directory.file("ready")) && FileWriter.create(directory.file("ready")))
        #expect(try directory.read("ready") == "")
    }

    /// In a folder that others may write to, it may lead to a file of ours.
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
