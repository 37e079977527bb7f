import Glibc

/// The lock that permits one process to write to a database. Held while the value exists.
///
/// The lock is a file beside the database, which holds the number of the process. It is not the database itself,
/// because SQLite's own locks would end when another descriptor of that file is closed. The file stays: a process that
/// deleted it could delete the lock of another.
struct SQLiteWriterLock: ~Copyable {
    private static let digitsMax = 20

    private let descriptor: Int32

    /// - Throws: ``SQLiteError`` of code `inUse` if another process has the lock.
    init(of path: String) throws(SQLiteError) {
        let name = path + ".lock"
        let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, SQLiteFile.mode)
        guard descriptor >= 0 else { throw SQLiteError(cannotOpen: name, errno: errno) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            let error =
                code == EWOULDBLOCK ? Self.inUse(path, descriptor) : SQLiteError(cannotOpen: name, errno: code)
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        // Only for the message of another process. If the disk is full, that message names no process.
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        pwrite(descriptor, text, text.count, 0)
    }

    deinit {
        // A process that another thread starts has the descriptor until it executes its program, and would keep the
        // lock.
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
