import Glibc

/// The lock that permits one writer of a database. It is held while the value exists.
///
/// The lock is on a separate file, which contains the ID of the writer's process. The database itself has no such lock,
/// because closing a descriptor of the database would end SQLite's own locks. The lock file remains. A process that
/// deleted it could delete the lock file of another process.
struct SQLiteWriterLock: ~Copyable {
    private static let digitsMax = 20

    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// - Throws: ``SQLiteError`` of code `inUse` if another writer has the lock, or the error of opening the lock file.
    init(of path: String) throws(SQLiteError) {
        let name = SQLiteFile.lockPath(of: path)
        var descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, SQLiteFile.mode)
        if descriptor >= 0 {
            SQLiteFile.giveToOwnerOfFolder(descriptor, name)
        } else {
            descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, SQLiteFile.mode)
        }
        guard descriptor >= 0 else { throw SQLiteError(cannotOpen: name, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let error =
                code == EWOULDBLOCK ? Self.inUse(path, descriptor) : SQLiteError(cannotOpen: name, errno: code)
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        // The ID is only for the error message of another process. If the disk is full, that message contains no ID.
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        pwrite(descriptor, text, text.count, 0)
    }

    deinit {
        // Unlock explicitly. Between fork and exec, a child that another thread starts has the descriptor and would
        // keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func inUse(_ path: String, _ descriptor: Int32) -> SQLiteError {
        var bytes = [UInt8](repeating: 0, count: digitsMax)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let owner = Int32(digits).map { "process \($0)" } ?? "another process"
        return SQLiteError(
            .inUse, "cannot write to \(path): \(owner) uses the file; stop that process, or configure another file")
    }
}
