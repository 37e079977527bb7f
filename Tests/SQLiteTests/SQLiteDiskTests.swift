import SQLite
import TestKit
import Testing

/// Faults of a real file system.
@Suite(.enabled("needs the right to mount", SmallDisk.isPermitted)) struct SQLiteDiskTests {
    private func error(_ body: () throws(SQLiteError) -> Void) -> SQLiteError? {
        do throws(SQLiteError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func aFullDiskStopsWritesOnly() async throws {
        let disk = try await SmallDisk(kilobytes: 600)
        let path = disk.file("registrations.sqlite")
        let file = try SQLiteFile.entries(path)
        defer { file.close() }
        let entries = try Entries(file)
        try entries.insert(1)
        let reader = try SQLiteFile.entries(path, .readOnly)
        defer { reader.close() }
        for first in [Int64(2), 3] {
            let failure = error { () throws(SQLiteError) in
                try file.transaction { () throws(SQLiteError) in
                    for key in first..<1000 { try entries.insert(key, bytes: 3000) }
                }
            }
            #expect(failure?.code == .full)
            #expect(failure?.message == "cannot use \(path): the disk is full; free or add space")
            #expect(try Entries(reader).keys() == [1])
        }
        // The next transaction reuses the space of the WAL.
        try entries.insert(2)
        #expect(try Entries(reader).keys() == [1, 2])
    }

    @Test func aDiskThatIsFullFromTheStartIsReported() async throws {
        let disk = try await SmallDisk(kilobytes: 600)
        try disk.fill()
        let path = disk.file("registrations.sqlite")
        #expect(error { () throws(SQLiteError) in try SQLiteFile.entries(path).close() }?.code == .full)
        try disk.free()
        let file = try SQLiteFile.entries(path)
        file.close()
    }

    @Test func aReadOnlyFileSystemIsReported() async throws {
        let disk = try await SmallDisk(kilobytes: 600)
        let path = disk.file("registrations.sqlite")
        let file = try SQLiteFile.entries(path)
        try Entries(file).insert(1)
        file.close()
        try await disk.makeReadOnly()
        let failure = error { () throws(SQLiteError) in try SQLiteFile.entries(path).close() }
        #expect(failure?.code == .readOnly)
        #expect(failure?.message.contains("make the file system writable") == true)
    }
}
