public import EventLoop
public import Registrations
public import SQLite

/// A store in a database file of SQLite, for one worker. All readers of a process share one thread, all writers another
/// one. All functions may be called on any thread.
public final class SQLiteStore: Sendable {
    public let path: String
    private let reading: SharedSQLiteThread
    private let writing: SharedSQLiteThread
    private let refusal: StoreFault?

    /// Opens no file: readers and writers do, when they start. A process has one store for a file.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - access: `readWrite` for a worker. `readOnly` for a command that runs beside a worker: its writers read
    ///     pages, and refuse changes.
    public init(path: String, keys: RegistrationKeys, access: SQLiteFile.Access = .readWrite) {
        self.path = path
        reading = SharedSQLiteThread(path, .readOnly, keys)
        switch access {
        case .readWrite: (writing, refusal) = (SharedSQLiteThread(path, .readWrite, keys), nil)
        case .readOnly:
            writing = reading
            refusal = StoreFault(
                .refused, "cannot change \(path): this program opened it for reading; make the change in its worker")
        }
    }

    /// Returns a reader that is used on `loop`. It becomes ready once the file exists with the version of this program.
    /// A worker starts its writer first, which creates and migrates the file.
    public func reader(on loop: EventLoop) -> RegistrationReader { SQLiteReader(reading, on: loop) }

    /// Returns a writer that is used on `loop`. While another process writes to the file, the writer does not become
    /// ready.
    public func writer(on loop: EventLoop) -> RegistrationWriter {
        SQLiteWriter(writing, refusal: refusal, on: loop)
    }
}
