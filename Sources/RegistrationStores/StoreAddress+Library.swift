import PostgreSQL
public import Registrations
import SQLite

extension StoreAddress {
    /// Loads the C library of the store unless it is loaded. Returns its name and version, such as `libpq 15.18`.
    /// Loading blocks, so call this function before lanes start. Callable from any thread.
    ///
    /// - Throws: ``StoreFault`` with a remedy if the library cannot be used.
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
