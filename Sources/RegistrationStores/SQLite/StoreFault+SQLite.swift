import Registrations
import SQLite

extension StoreFault {
    /// Creates the fault for an error of a database file.
    init(_ error: SQLiteError) {
        let code: Code
        var remedy: String?
        switch error.code {
        case .inUse, .busy: code = .unreachable
        case .interrupted, .closed: (code, remedy) = (.unreachable, "wait until the worker opens the file again")
        // The writer of a worker creates the file, and the lanes of the worker wait for the file.
        case .missing: (code, remedy) = (.unreachable, "start a worker with this store to create the file")
        case .olderVersion: code = .unreachable
        case .queueFull: (code, remedy) = (.unreachable, "move the file to a faster disk if this persists")
        case .unavailable, .full, .readOnly, .moved: code = .refused
        case .cannotOpen: (code, remedy) = (.refused, "create the folder, or permit this user to open the file")
        case .inputOutput: (code, remedy) = (.refused, "check the disk and its file system")
        case .memory: (code, remedy) = (.refused, "give the worker more memory")
        case .foreign, .newerVersion, .corrupt: code = .schema
        case .statement: (code, remedy) = (.schema, "restore the file from a backup")
        case .missingKey: code = .keys
        case .constraint, .value: (code, remedy) = (.data, "correct the command")
        }
        self.init(
            code, remedy.map { "\(error.message); \($0)" } ?? error.message, errorClass: error.code.rawValue)
    }

    /// The fault of calls before `start` or after `close`.
    static let notOpen = StoreFault(SQLiteError(.closed, "cannot use the store: it is not open"))
}
