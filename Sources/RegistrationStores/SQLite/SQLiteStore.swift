public import EventLoop
public import Registrations
public import SQLite

/// A store in an SQLite file, for one worker. All readers share one thread. All writers share another one, or that of
/// the readers if the store is open for reading only. All functions may be called on any thread.
public final class SQLiteStore: Sendable {
    public let path: String
    private let reading: SharedSQLiteThread
    private let writing: SharedSQLiteThread
    private let refusal: StoreFault?

    /// Opens no file. Readers and writers open the file when they start. Create only one store for each file in a
    /// process.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - access: `readWrite` for a worker. `readOnly` for a command that runs while a worker uses the file. The
    ///     writers then read pages, and refuse changes.
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

    /// Returns a reader for `loop`. The reader becomes ready once the file exists and has the schema version of this
    /// program. Start the writer first, since it creates and migrates the file.
    public func reader(on loop: EventLoop) -> RegistrationReader { SQLiteReader(reading, on: loop) }

    /// Returns a writer for `loop`. A writer that may change the file does not become ready while another process has
    /// the file open for writing.
    public func writer(on loop: EventLoop) -> RegistrationWriter {
        SQLiteWriter(writing, refusal: refusal, on: loop)
    }
}
