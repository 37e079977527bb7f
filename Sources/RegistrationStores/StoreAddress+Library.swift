import PostgreSQL
public import Registrations
import SQLite

extension StoreAddress {
    /// Loads the C library of the store, so that no lane waits for files, and returns its name and version, such as
    /// `libpq 15.18`. Blocks at the first call. Callable from any thread.
    ///
    /// - Throws: ``StoreFault`` with the package to install if the library is missing or too old.
    @discardableResult public func loadLibrary() throws(StoreFault) -> String {
        switch self {
        case .sqlite:
            do throws(SQLiteError) {
                return "libsqlite3 \(try SQLiteLibrary.version())"
            } catch {
                throw StoreFault(.refused, error.message)
            }
        case .postgresql:
            do throws(PostgresError) {
                return "libpq \(try PostgresLibrary.version())"
            } catch {
                throw StoreFault(.refused, error.message)
            }
        }
    }
}
