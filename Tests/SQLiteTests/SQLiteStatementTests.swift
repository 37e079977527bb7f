import SQLite
import TestKit
import Testing

@Suite struct SQLiteStatementTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func withFile(_ body: (SQLiteFile) throws -> Void) throws {
        let file = try SQLiteFile.entries(directory.file("registrations.sqlite"))
        defer { file.close() }
        try body(file)
    }

    private static func insertion(_ file: SQLiteFile) throws(SQLiteError) -> SQLiteStatement {
        try file.prepare("INSERT INTO mixed (number, fraction, word, bytes) VALUES (?, ?, ?, ?)")
    }

    private func error(_ body: () throws -> Void) -> SQLiteError? {
        do {
            try body()
            return nil
        } catch {
            return error as? SQLiteError
        }
    }

    @Test func valuesAreReadAsTheyWereWritten() throws {
        try withFile { file in
            let insertion = try Self.insertion(file)
            insertion.bind(1, int64: Int64.min)
            insertion.bind(2, double: 1.5)
            insertion.bind(3, text: "grün\0mit NUL")
            insertion.bind(4, blob: [0, 1, 255])
            #expect(try insertion.run() == 1)
            let isRead = try file.prepare("SELECT * FROM mixed").firstRow { row throws(SQLiteError) in
                #expect(try row.int64(0) == Int64.min)
                #expect(try row.int64OrNil(0) == Int64.min)
                #expect(try row.double(1) == 1.5)
                #expect(try row.doubleOrNil(1) == 1.5)
                #expect(try row.text(2) == "grün\0mit NUL")
                #expect(try row.textOrNil(2) == "grün\0mit NUL")
                #expect(try row.blob(3) == [0, 1, 255])
                #expect(try row.blobOrNil(3) == [0, 1, 255])
                #expect(try row.withBlob(3) { bytes throws(SQLiteError) in bytes.count } == 3)
                return true
            }
            #expect(isRead == true)
        }
    }

    @Test func emptyValuesAreNotNull() throws {
        try withFile { file in
            let insertion = try Self.insertion(file)
            insertion.bind(3, text: "")
            insertion.bind(4, blob: [])
            try insertion.run()
            insertion.bind(4, borrowedBlob: UnsafeRawBufferPointer(start: nil, count: 0))
            try insertion.run()
            var texts: [String?] = []
            try file.prepare("SELECT * FROM mixed ORDER BY rowid").forEachRow { row throws(SQLiteError) in
                #expect(try row.blob(3) == [])
                texts.append(try row.textOrNil(2))
            }
            #expect(texts == ["", nil])
        }
    }

    /// Each run removes its bound values.
    @Test func parametersWithoutAValueAreNull() throws {
        try withFile { file in
            let insertion = try Self.insertion(file)
            insertion.bind(1, int64: 7)
            insertion.bind(2, double: 0.5)
            insertion.bind(3, text: "a")
            insertion.bind(4, blob: [1])
            try insertion.run()
            try insertion.run()
            insertion.bind(1, int64: nil)
            insertion.bind(2, double: nil)
            insertion.bind(3, text: nil)
            insertion.bind(4, blob: nil)
            try insertion.run()
            insertion.bindNull(1)
            try insertion.run()
            var nullRows = 0
            let selection = try file.prepare("SELECT * FROM mixed WHERE rowid > 1")
            try selection.forEachRow { row throws(SQLiteError) in
                nullRows += 1
                #expect(try row.int64OrNil(0) == nil)
                #expect(try row.doubleOrNil(1) == nil)
                #expect(try row.textOrNil(2) == nil)
                #expect(try row.blobOrNil(3) == nil)
                #expect(row.isNull(0) == true)
            }
            #expect(nullRows == 3)
        }
    }

    @Test func aBorrowedBlobIsWritten() throws {
        try withFile { file in
            let bytes = [UInt8](repeating: 9, count: 100_000)
            let insertion = try Self.insertion(file)
            try bytes.withUnsafeBytes { bytes in
                insertion.bind(4, borrowedBlob: bytes)
                try insertion.run()
            }
            bytes.withUnsafeBytes { insertion.bind(4, blob: $0) }
            try insertion.run()
            var count = 0
            try file.prepare("SELECT bytes FROM mixed").forEachRow { row throws(SQLiteError) in
                count += 1
                #expect(try row.blob(0) == bytes)
            }
            #expect(count == 2)
        }
    }

    @Test func runReturnsTheNumberOfChangedRows() throws {
        try withFile { file in
            let entries = try Entries(file)
            for key in 1...5 { try entries.insert(Int64(key)) }
            let update = try file.prepare("UPDATE entry SET value = NULL WHERE key > ?")
            update.bind(1, int64: 3)
            #expect(try update.run() == 2)
            update.bind(1, int64: 9)
            #expect(try update.run() == 0)
        }
    }

    @Test func aColumnOfAnotherTypeIsAnError() throws {
        try withFile { file in
            let selection = try file.prepare("SELECT 1, 1.5, 'a', x'00', NULL")
            func error(_ body: (borrowing SQLiteRow) throws(SQLiteError) -> Void) -> SQLiteError.Code? {
                do throws(SQLiteError) {
                    _ = try selection.firstRow(body)
                    return nil
                } catch {
                    return error.code
                }
            }
            #expect(error { row throws(SQLiteError) in _ = try row.int64(1) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.int64(4) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.double(0) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.text(3) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.blob(2) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.blobOrNil(2) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.int64(5) } == .value)
            #expect(error { row throws(SQLiteError) in _ = try row.int64(0) } == nil)
            let invalid = try file.prepare("SELECT CAST(x'ff' AS TEXT)")
            #expect(throws: SQLiteError(.value, "cannot read column 0 of a row: the text is not UTF-8")) {
                try invalid.firstRow { row throws(SQLiteError) in try row.text(0) }
            }
        }
    }

    @Test func errorsContainNoValues() throws {
        try withFile { file in
            let insertion = try Self.insertion(file)
            let secret = "a-secret-word"
            insertion.bind(3, text: secret)
            try insertion.run()
            insertion.bind(3, text: secret)
            let duplicate = try #require(error { try insertion.run() })
            #expect(duplicate.code == .constraint)
            #expect(duplicate.extendedCode == 2067)
            #expect(duplicate.isCausedByData)
            #expect(!"\(duplicate) \(String(reflecting: duplicate))".contains(secret))
            // The statement can be used again.
            insertion.bind(3, text: "another")
            #expect(try insertion.run() == 1)

            let type = try file.prepare("INSERT INTO mixed (number) VALUES (?)")
            type.bind(1, text: secret)
            let mismatch = try #require(error { try type.run() })
            #expect(mismatch.code == .constraint)
            #expect(!"\(mismatch)".contains(secret))
        }
    }

    @Test func aTooLargeValueIsReportedByTheRun() throws {
        try withFile { file in
            let insertion = try Self.insertion(file)
            // SQLite's default limit is 1 GB. SQLite checks the length before it reads the bytes.
            var byte: UInt8 = 0
            withUnsafeMutableBytes(of: &byte) { bytes in
                let tooLarge = UnsafeRawBufferPointer(start: bytes.baseAddress, count: 2_000_000_000)
                insertion.bind(4, borrowedBlob: tooLarge)
            }
            insertion.bind(1, int64: 1)
            let failure = try #require(error { try insertion.run() })
            #expect(failure.code == .value)
            #expect(failure.isCausedByData)
            insertion.bind(1, int64: 1)
            #expect(try insertion.run() == 1)
        }
    }

    @Test func aMissingTableIsNotAFaultOfTheData() throws {
        try withFile { file in
            let failure = try #require(error { _ = try file.prepare("SELECT * FROM absent") })
            #expect(failure.code == .statement)
            #expect(!failure.isCausedByData)
            #expect(failure.description.hasSuffix(" (SQLite 1)"))
        }
    }

    @Test func anErrorOfTheBodyEndsTheRun() throws {
        try withFile { file in
            let entries = try Entries(file)
            for key in 1...3 { try entries.insert(Int64(key)) }
            let selection = try file.prepare("SELECT key, value FROM entry")
            var rows = 0
            let failure = error {
                try selection.forEachRow { row throws(SQLiteError) in
                    rows += 1
                    _ = try row.text(0)
                }
            }
            #expect(failure?.code == .value)
            #expect(rows == 1)
            #expect(try selection.firstRow { row throws(SQLiteError) in try row.int64(0) } == 1)
        }
    }

    // MARK: Transactions

    @Test func aFailedTransactionIsRolledBack() throws {
        try withFile { file in
            let entries = try Entries(file)
            let failure = error {
                try file.transaction { () throws(SQLiteError) in
                    try entries.insert(1)
                    try entries.insert(1)
                }
            }
            #expect(failure?.code == .constraint)
            #expect(!file.isInTransaction)
            #expect(try entries.keys() == [])
            #expect(try file.transaction { () throws(SQLiteError) in try entries.keys().count } == 0)
        }
    }

    @Test func aFailedSavepointRevertsOnlyItsChanges() throws {
        try withFile { file in
            let entries = try Entries(file)
            try file.transaction { () throws(SQLiteError) in
                try entries.insert(1)
                let failure = error {
                    try file.savepoint { () throws(SQLiteError) in
                        try entries.insert(2)
                        try file.savepoint { () throws(SQLiteError) in try entries.insert(3) }
                        try entries.insert(1)
                    }
                }
                #expect(failure?.code == .constraint)
                #expect(file.isInTransaction)
                try file.savepoint { () throws(SQLiteError) in try entries.insert(4) }
            }
            #expect(try entries.keys() == [1, 4])
        }
    }
}
