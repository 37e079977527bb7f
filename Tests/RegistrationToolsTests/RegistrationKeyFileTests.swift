import Glibc
import Registrations
import TestKit
import Testing

@testable import RegistrationTools

/// Key files that commands create and change.
@Suite struct RegistrationKeyFileTests {
    @Test func `A new key file has mode 0640, and is never replaced`() throws {
        let folder = try TemporaryDirectory("keys")
        let path = folder.file("keys.json")
        try RegistrationKeyFile.create(path)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o640)
        #expect(throws: Never.self) { try RegistrationKeys(path: path) }
        let text = try folder.read("keys.json")
        #expect(throws: RegistrationKeyFile.Failure(message: "cannot create \(path): file exists")) {
            try RegistrationKeyFile.create(path)
        }
        #expect(try folder.read("keys.json") == text)
    }

    @Test func `An added data key keeps the other keys, the mode and a link`() throws {
        let folder = try TemporaryDirectory("keys")
        let (path, link) = (folder.file("keys.json"), folder.file("link.json"))
        try RegistrationKeyFile.create(path)
        #expect(chmod(path, 0o600) == 0 && symlink(path, link) == 0)
        let before = try folder.read("keys.json")
        try RegistrationKeyFile.edit(link, .add)
        let after = try folder.read("keys.json")
        // The file still begins with the index key and the first data key.
        #expect(after.hasPrefix(before.dropLast(3)))
        #expect(after.contains(#""id":2"#))
        var status = stat()
        #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(try folder.names == ["keys.json", "link.json"])
    }

    @Test func `A data key that the file does not have is not activated`() throws {
        let folder = try TemporaryDirectory("keys")
        let path = folder.file("keys.json")
        try RegistrationKeyFile.create(path)
        let text = try folder.read("keys.json")
        let failure = RegistrationKeyFile.Failure(
            message: "cannot change \(path): it has no data key 2 (data keys: 1)")
        #expect(throws: failure) { try RegistrationKeyFile.edit(path, .activate(2)) }
        #expect(try folder.read("keys.json") == text)
        #expect(try RegistrationKeyFile.edit(path, .add).activeKeyID == 1)
        #expect(try RegistrationKeyFile.edit(path, .activate(2)).activeKeyID == 2)
    }

    @Test func `A data key is not added to a file that others can read, is missing, or is full`() throws {
        let folder = try TemporaryDirectory("keys")
        let path = folder.file("keys.json")
        #expect(throws: RegistrationKeyFile.Failure.self) { try RegistrationKeyFile.edit(path, .add) }
        try RegistrationKeyFile.create(path)
        chmod(path, 0o644)
        #expect(throws: RegistrationKeyFile.Failure.self) { try RegistrationKeyFile.edit(path, .add) }
        chmod(path, 0o640)
        let file = try folder.read("keys.json")
        let dataKey = try #require(file.firstMatch(of: /\{"id":1,.*?\}/)).output
        let dataKeys = (1...RegistrationKeys.dataKeysMax).map { dataKey.replacing(#""id":1"#, with: #""id":\#($0)"#) }
        let text = file.replacing(dataKey, with: dataKeys.joined(separator: ","))
        try folder.write("keys.json", text)
        #expect(throws: RegistrationKeyFile.Failure.self) { try RegistrationKeyFile.edit(path, .add) }
        #expect(try folder.read("keys.json") == text)
    }
}

extension TemporaryDirectory {
    /// The names of the files in the folder, in order.
    fileprivate var names: [String] {
        get throws {
            let folder = try #require(opendir(path))
            defer { closedir(folder) }
            var names: [String] = []
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != "." && name != ".." { names.append(name) }
            }
            return names.sorted()
        }
    }
}
