import ControlProtocol
import Crypto
import Registrations
import SQLite
import TestKit
import Testing

@testable import History

/// A history in a temporary folder. Writers and readers run on the calling thread.
final class HistoryFixture {
    let directory: TemporaryDirectory
    let folder: HistoryFolder
    var limits = HistoryLimits()
    var space: DiskSpace?

    /// - Parameter path: the folder of the history; nil for a temporary folder.
    init(in path: String? = nil) throws {
        directory = try TemporaryDirectory("history")
        folder = HistoryFolder(path ?? directory.path)
    }

    static let keys: RegistrationKeys = {
        let (index, data) = (
            Base64.encode([UInt8](repeating: 1, count: 32)), Base64.encode([UInt8](repeating: 2, count: 32))
        )
        let text = #"{"index_key":"\#(index)","data_keys":[{"id":1,"key":"\#(data)"}]}"#
        guard let keys = try? RegistrationKeys(json: Array(text.utf8), source: "test") else { fatalError("no keys") }
        return keys
    }()

    /// Calls `body` with an open writer.
    func withWriter(_ body: (OpenWriter) throws -> Void) throws {
        let writer = try OpenWriter(folder, limits, space)
        defer { writer.close() }
        try body(writer)
    }

    func write(_ messages: [HistoryMessage]) throws {
        try withWriter { _ = try $0.write(messages) }
    }

    func erase(_ subject: HistorySubject) throws -> HistoryErasure.Outcome {
        try HistoryErasure(folder, Self.keys).run(subject, at: Journal.now)
    }

    func read<Value>(_ body: (HistoryReader) throws(SQLiteError) -> Value) throws -> Value {
        let file = try SQLiteFile.open(folder.indexPath, .readOnly, schema: .historyIndex)
        defer { file.close() }
        let reader = try HistoryReader(file, folder, Self.keys)
        return try file.transaction { () throws(SQLiteError) in try body(reader) }
    }

    /// Returns the ids of all shown rows, newest first, read in pages.
    func ids(_ query: HistoryQuery = .newest, limit: Int = 500) throws -> [UUIDValue?] {
        try read { reader throws(SQLiteError) in
            var ids: [UUIDValue?] = []
            var before: HistoryPosition?
            repeat {
                let page = try reader.page(query, before: before, limit: limit)
                ids += page.rows.map(\.line.id)
                before = page.next
            } while before != nil
            return ids
        }
    }
}

/// A writer with its index.
final class OpenWriter {
    let file: SQLiteFile
    let writer: HistoryWriter

    init(_ folder: HistoryFolder, _ limits: HistoryLimits, _ space: DiskSpace? = nil) throws {
        file = try SQLiteFile.open(folder.indexPath, .readWrite, schema: .historyIndex)
        writer = try HistoryWriter(file, folder, HistoryFixture.keys, limits) { space }
    }

    /// Runs one transaction.
    func write(_ messages: [HistoryMessage]) throws -> HistoryProgress {
        try file.transaction { () throws(SQLiteError) in try writer.write(messages, at: Journal.now) }
    }

    func close() { file.close() }
}
