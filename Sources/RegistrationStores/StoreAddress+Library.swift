import PostgreSQL
public import Registrations
import SQLite

extension StoreAddress {
    /// Loads the C library of the store, so that no lane waits for files. Blocks at the first call. Callable from any
    /// thread.
    ///
    /// - Throws: ``StoreFault`` with the package to install if the library is missing or too old.
    public func loadLibrary() throws(StoreFault) {
        switch self {
        case .sqlite:
            do throws(SQLiteError) {
                _ = try SQLiteLibrary.version()
            } catch {
                throw StoreFault(.refused, error.message)
            }
        case .postgresql:
            do throws(PostgresError) {
                try PostgresLibrary.load()
            } catch {
                throw StoreFault(.refused, error.message)
            }
        }
    }
}
