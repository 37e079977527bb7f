import SQLite
import TestKit
import Testing

@testable import History

/// A history on a disk that is full, although its limits did not prevent it: other programs fill disks, too.
@Suite(.enabled("needs the right to mount", SmallDisk.isPermitted)) struct HistoryDiskTests {
    @Test(arguments: [50, 1_000_000]) func aFullDiskLosesNothing(segmentRowsMax: Int) async throws {
        let disk = try await SmallDisk(kilobytes: 32_000)
        let fixture = try HistoryFixture(in: disk.path)
        fixture.limits.segmentRowsMax = segmentRowsMax
        let messages = Journal.accepted(1000, count: 5)
        try fixture.withWriter { open in
            for message in messages[..<10] { _ = try open.write([message]) }
            // The reader of a console has the files open.
            let file = try SQLiteFile.open(fixture.folder.indexPath, .readOnly, schema: .historyIndex)
            defer { file.close() }
            let reader = try HistoryReader(file, fixture.folder, HistoryFixture.keys)
            func rows() throws -> Int {
                try file.transaction { () throws(SQLiteError) in try reader.page(.newest).rows.count }
            }
            #expect(try rows() == 50)
            try disk.fill()
            var written = 10
            let error = #expect(throws: SQLiteError.self) {
                while written < messages.count {
                    _ = try open.write([messages[written]])
                    written += 1
                }
            }
            #expect(error?.code == .full)
            // Queries continue.
            #expect(try rows() == 50)
            try disk.free()
            try open.file.transaction { () throws(SQLiteError) in try open.writer.reload() }
            for message in messages[written...] { _ = try open.write([message]) }
        }
        #expect(try fixture.ids() == (0..<5000).reversed().map { Journal.uuid($0) })
        let apps = try fixture.read { reader throws(SQLiteError) in try reader.apps(at: Journal.now) }
        #expect(apps.map(\.accepted) == [5000])
    }
}
