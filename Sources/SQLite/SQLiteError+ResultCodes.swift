import CSQLite
import Glibc

extension SQLiteError {
    /// Creates the error for a result code of SQLite.
    ///
    /// - Parameters:
    ///   - systemError: The `errno` that SQLite recorded; 0 for none. It has a meaning only if the file could not be
    ///     opened, read or written.
    ///   - path: The path of the file.
    init(result: Int32, systemError: Int32, path: String) {
        let (code, reason) = Self.meaning(of: result & 0xff, systemError)
        // Errors of data name no path, because they may occur in large numbers, and each text would take memory.
        let message = code == .constraint || code == .value ? reason : "cannot use \(path): \(reason)"
        self.init(code, message, extendedCode: result)
    }

    /// Creates the error for an `errno` from opening a file without SQLite.
    init(cannotOpen path: String, errno code: Int32) {
        switch code {
        case EROFS:
            self.init(.readOnly, "cannot open \(path): the file system is read-only; make the file system writable")
        case ENOSPC, EDQUOT: self.init(.full, "cannot create \(path): \(Self.fullReason)")
        case ENOENT: self.init(.cannotOpen, "cannot open \(path): the folder is missing; create the folder")
        default: self.init(.cannotOpen, "cannot open \(path): \(Self.systemText(code))")
        }
    }

    private static let fullReason = "the disk is full; free or add space"

    private static func meaning(of primary: Int32, _ systemError: Int32) -> (Code, String) {
        switch primary {
        case SQLITE_IOERR where systemError == ENOSPC || systemError == EDQUOT: (.full, fullReason)
        case SQLITE_FULL: (.full, fullReason)
        case SQLITE_IOERR: (.inputOutput, "input or output failed: \(systemText(systemError))")
        case SQLITE_CANTOPEN, SQLITE_PERM: (.cannotOpen, systemText(systemError))
        case SQLITE_READONLY:
            (.readOnly, "this user may not write to the file or its folder; run this program as the user of the worker")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            (.corrupt, "the file is damaged or is not an SQLite database; restore the file from a backup")
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            (.busy, "another process locks the file; try again")
        case SQLITE_NOMEM: (.memory, "memory is exhausted")
        case SQLITE_INTERRUPT: (.interrupted, "the statement was interrupted because its thread ends")
        case SQLITE_CONSTRAINT: (.constraint, "cannot store a value: the value violates a constraint of its table")
        case SQLITE_TOOBIG, SQLITE_MISMATCH:
            (.value, "cannot use a value: the value is too large or does not have the type of the column")
        default: (.statement, "a table or column is missing, or the statement is invalid")
        }
    }

    private static func systemText(_ code: Int32) -> String {
        code == 0 ? "no reason given" : strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}
