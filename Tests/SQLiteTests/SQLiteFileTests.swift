import Glibc
import SQLite
import TestKit
import Testing

@Suite struct SQLiteFileTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("registrations.sqlite")
    }

    private func open(_ access: SQLiteFile.Access = .readWrite) throws(SQLiteError) -> SQLiteFile {
        try .entries(path, access)
    }

    /// Writes entries and closes the file.
    private func write(_ keys: [Int64]) throws {
        let file = try open()
        defer { file.close() }
        let entries = try Entries(file)
        try file.transaction { () throws(SQLiteError) in for key in keys { try entries.insert(key) } }
    }

    private func keys() throws(SQLiteError) -> [Int64] {
        let file = try open()
        defer { file.close() }
        return try Entries(file).keys()
    }

    private func error(_ access: SQLiteFile.Access = .readWrite, at path: String? = nil) -> SQLiteError? {
        do throws(SQLiteError) {
            try SQLiteFile.entries(path ?? self.path, access).close()
            return nil
        } catch {
            return error
        }
    }

    private static func permissions(_ path: String) -> mode_t {
        var information = stat()
        return stat(path, &information) == 0 ? information.st_mode & 0o777 : 0
    }

    private func setting(_ sql: StaticString, of file: SQLiteFile) throws(SQLiteError) -> Int64? {
        try file.prepare(sql).firstRow { row throws(SQLiteError) in try row.int64(0) }
    }

    // MARK: Opening

    @Test func theLibraryIsLoadedByItsFirstUse() async throws {
        await #expect(processExitsWith: .exitCode(7)) {
            let wasLoaded = dlopen("libsqlite3.so.0", RTLD_NOLOAD | RTLD_LAZY) != nil
            let numbers = try SQLiteLibrary.version().split(separator: ".").compactMap { Int($0) }
            let isLoaded = dlopen("libsqlite3.so.0", RTLD_NOLOAD | RTLD_LAZY) != nil
            exit(!wasLoaded && isLoaded && !numbers.lexicographicallyPrecedes([3, 37]) ? 7 : 1)
        }
    }

    @Test func aNewFileHasItsModeAndSettings() throws {
        let file = try open()
        defer { file.close() }
        try Entries(file).insert(1)
        let mask = umask(0)
        umask(mask)
        for suffix in ["", "-wal", "-shm", ".lock"] {
            #expect(Self.permissions(path + suffix) == 0o640 & ~mask, "\(suffix)")
        }
        #expect(try setting("PRAGMA synchronous", of: file) == 2)
        #expect(try setting("PRAGMA foreign_keys", of: file) == 0)
        #expect(try setting("PRAGMA secure_delete", of: file) == 1)
        #expect(try setting("PRAGMA user_version", of: file) == 2)
        let mode = try file.prepare("PRAGMA journal_mode").firstRow { row throws(SQLiteError) in try row.text(0) }
        #expect(mode == "wal")
    }

    /// Otherwise, a command of root would create a store that its worker cannot open.
    @Test(.enabled(if: geteuid() == 0))
    func `A file that root creates belongs to the owner of its folder`() throws {
        try #require(chown(directory.path, 65534, 65533) == 0)
        try write([1])
        for suffix in ["", ".lock"] {
            var status = stat()
            #expect(stat(path + suffix, &status) == 0 && status.st_uid == 65534 && status.st_gid == 65533, "\(suffix)")
        }
        // A file that exists keeps its owner.
        try #require(chown(path, 0, 0) == 0 && chown(path + ".lock", 0, 0) == 0)
        try write([2])
        for suffix in ["", ".lock"] {
            var status = stat()
            #expect(stat(path + suffix, &status) == 0 && status.st_uid == 0, "\(suffix)")
        }
    }

    @Test func aClosedFileContainsItsRows() throws {
        try write([1, 2])
        #expect(access(path + "-wal", F_OK) != 0)
        #expect(try keys() == [1, 2])
    }

    @Test func specialNamesAreFiles() throws {
        let error = error(at: "missing/:memory:")
        #expect(error?.code == .cannotOpen)
        #expect(error?.message == "cannot open missing/:memory:.lock: the folder is missing; create the folder")
    }

    @Test func aMissingFolderIsReported() {
        let missing = directory.file("missing/registrations.sqlite")
        #expect(error(at: missing)?.code == .cannotOpen)
        let reader = error(.readOnly, at: missing)
        #expect(reader?.code == .missing)
        #expect(reader?.message == "cannot open \(missing): the file does not exist")
    }

    @Test func aReaderDoesNotCreateAFile() {
        #expect(error(.readOnly)?.code == .missing)
        #expect(access(path, F_OK) != 0)
    }

    @Test func aFolderIsNotAFile() {
        let error = error(at: directory.path)
        #expect(error?.code == .cannotOpen)
        unlink(directory.path + ".lock")
    }

    // MARK: Versions

    @Test func aFileOfANewerVersionIsRefused() throws {
        try write([1])
        let older = SQLiteSchema(application: Entries.schema.application, steps: [Entries.schema.steps[0]])
        for access in [SQLiteFile.Access.readWrite, .readOnly] {
            #expect {
                try SQLiteFile.open(path, access, schema: older).close()
            } throws: { error in
                let error = error as? SQLiteError
                return error?.code == .newerVersion
                    && error?.message.contains("has version 2, and this program knows version 1") == true
            }
        }
        #expect(try keys() == [1])
    }

    @Test func onlyAWriterMigratesAFileOfAnOlderVersion() throws {
        let older = SQLiteSchema(application: Entries.schema.application, steps: [Entries.schema.steps[0]])
        let file = try SQLiteFile.open(path, .readWrite, schema: older)
        try Entries(file).insert(7)
        file.close()
        #expect(error(.readOnly)?.code == .olderVersion)
        #expect(try keys() == [7])
        #expect(error(.readOnly) == nil)
    }

    @Test func aFailedMigrationChangesNothing() throws {
        try write([1])
        let steps = Entries.schema.steps + ["CREATE TABLE more (key INTEGER); INSERT INTO absent VALUES (1)"]
        let wrong = SQLiteSchema(application: Entries.schema.application, steps: steps)
        #expect {
            try SQLiteFile.open(path, .readWrite, schema: wrong).close()
        } throws: {
            ($0 as? SQLiteError)?.code == .statement
        }
        let file = try open()
        defer { file.close() }
        #expect(throws: SQLiteError.self) { try file.prepare("SELECT * FROM more") }
    }

    @Test func aDatabaseOfAnotherProgramStaysUnchanged() throws {
        let file = try SQLiteFile.open(
            path, .readWrite, schema: SQLiteSchema(application: 0, steps: ["CREATE TABLE theirs (a)"]))
        file.close()
        let before = try directory.read("registrations.sqlite")
        #expect(error()?.code == .foreign)
        #expect(error(.readOnly)?.code == .foreign)
        #expect(try directory.read("registrations.sqlite") == before)
    }

    // MARK: Faults of the file

    @Test func aFileThatIsNotADatabaseIsReported() throws {
        try directory.write("registrations.sqlite", String(repeating: "no database ", count: 1000))
        #expect(error()?.code == .corrupt)
        #expect(error(.readOnly)?.code == .corrupt)
        #expect(error()?.extendedCode == 26)
    }

    @Test func aDamagedPageIsReported() throws {
        try write(Array(1...1000))
        let stream = try #require(fopen(path, "r+"))
        fseek(stream, 4096, SEEK_SET)
        let damage = [UInt8](repeating: 0xff, count: 8 * 4096)
        fwrite(damage, 1, damage.count, stream)
        fclose(stream)
        #expect { try keys() } throws: { ($0 as? SQLiteError)?.code == .corrupt }
    }

    @Test func aReaderCannotWrite() throws {
        try write([1])
        let file = try open(.readOnly)
        defer { file.close() }
        #expect { try Entries(file).insert(2) } throws: { ($0 as? SQLiteError)?.code == .readOnly }
        #expect(try Entries(file).keys() == [1])
    }

    @Test func aFullFileLosesOnlyTheTransaction() throws {
        let file = try open()
        defer { file.close() }
        let entries = try Entries(file)
        try entries.insert(1)
        try file.execute("PRAGMA max_page_count = 20")
        #expect {
            try file.transaction { () throws(SQLiteError) in
                for key in 2..<1000 { try entries.insert(Int64(key), bytes: 1000) }
            }
        } throws: {
            ($0 as? SQLiteError)?.code == .full
        }
        #expect(!file.isInTransaction)
        #expect(try entries.keys() == [1])
        try file.execute("PRAGMA max_page_count = 1000")
        try file.transaction { () throws(SQLiteError) in try entries.insert(2, bytes: 100_000) }
        #expect(try entries.keys() == [1, 2])
    }

    // MARK: The lock of the writer

    @Test func aSecondWriterIsRefused() throws {
        let file = try open()
        let second = error()
        #expect(second?.code == .inUse)
        #expect(second?.message.contains("process \(getpid()) uses the file") == true, "\(String(describing: second))")
        #expect(error(.readOnly) == nil)
        file.close()
        #expect(error() == nil)
    }

    @Test func aSecondProcessLearnsTheNumberOfTheFirst() async throws {
        let file = try open()
        let (pid, path) = (getpid(), path)
        await #expect(processExitsWith: .exitCode(7)) { [pid = pid as pid_t, path = path as String] in
            do throws(SQLiteError) {
                try SQLiteFile.entries(path).close()
            } catch {
                exit(error.code == .inUse && error.message.contains("process \(pid) ") ? 7 : 1)
            }
        }
        file.close()
    }

    /// The lock file contains no process ID if the disk was full.
    @Test func anUnknownProcessIsReportedWithoutANumber() async throws {
        let file = try open()
        defer { file.close() }
        try directory.write("registrations.sqlite.lock", "")
        #expect(error()?.message.contains("another process uses the file") == true)
    }

    /// The kernel ends all POSIX locks of a process on a file if the process closes any descriptor of the file.
    @Test func aWriterThatOpensAgainKeepsTheLocksOfAReader() async throws {
        try write([1])
        let reader = try open(.readOnly)
        defer { reader.close() }
        #expect(try Entries(reader).keys() == [1])
        let before = try await locks()
        try #require(!before.isEmpty)
        try open().close()
        #expect(error(.readOnly) == nil)
        // `/proc/locks` may omit locks while other locks change.
        try await poll(until: "the reader has its locks", within: .seconds(20)) {
            try await locks().isSuperset(of: before)
        }
    }

    /// Returns the locks of processes on the database file.
    private func locks() async throws -> Set<String> {
        var information = stat()
        try #require(stat(path, &information) == 0)
        let inode = ":\(information.st_ino) "
        let lines = try await ChildProcess.run(["cat", "/proc/locks"]).output.filter { $0.contains(inode) }
        return Set(lines.map { String($0.drop { $0 != ":" }) })
    }

    // MARK: Crashes

    @Test func aKilledProcessLeavesTheLastCommit() async throws {
        let path = path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let file = try SQLiteFile.entries(path)
            let entries = try Entries(file)
            try file.transaction { () throws(SQLiteError) in for key in 1...3 { try entries.insert(Int64(key)) } }
            // The small cache makes SQLite write pages of the open transaction to the WAL.
            try file.execute("PRAGMA cache_size = 1")
            try file.transaction { () throws(SQLiteError) in
                for key in 4..<500 { try entries.insert(Int64(key), bytes: 4000) }
                kill(getpid(), SIGKILL)
            }
        }
        var information = stat()
        #expect(stat(path + "-wal", &information) == 0 && information.st_size > 1_000_000)
        #expect(try keys() == [1, 2, 3])
        let file = try open(.readOnly)
        defer { file.close() }
        let check = try file.prepare("PRAGMA quick_check").firstRow { row throws(SQLiteError) in try row.text(0) }
        #expect(check == "ok")
    }
}
