public import EventLoop
public import PostgreSQL
public import Registrations
public import SQLite

/// A store of registrations in SQLite or PostgreSQL. It creates readers and writers. All functions may be called on any
/// thread.
public final class RegistrationStore: Sendable {
    private enum Connector: Sendable {
        case sqlite(SQLiteStore)
        case postgresql(PostgresURL, PostgresPasswordSource, RegistrationKeys)
    }

    private let connector: Connector

    /// Loads the C library of the store unless it is loaded. Loading blocks. Opens no database file and no connection.
    ///
    /// - Parameters:
    ///   - password: The password of the PostgreSQL user. SQLite has none.
    ///   - access: `readOnly` for a command that reads an SQLite file while a worker runs. Ignored for PostgreSQL.
    /// - Throws: ``StoreFault`` with a remedy if the library cannot be used.
    public init(
        _ address: StoreAddress, password: @escaping PostgresPasswordSource = { nil }, keys: RegistrationKeys,
        access: SQLiteFile.Access = .readWrite
    ) throws(StoreFault) {
        try address.loadLibrary()
        switch address {
        case .sqlite(let path): connector = .sqlite(SQLiteStore(path: path, keys: keys, access: access))
        case .postgresql(let url): connector = .postgresql(url, password, keys)
        }
    }

    /// Returns a reader for the thread of `loop`. The caller starts and closes it.
    ///
    /// - Throws: ``StoreFault`` if OpenSSL fails.
    public func reader(on loop: EpollLoop) throws(StoreFault) -> RegistrationReader {
        switch connector {
        case .sqlite(let store): store.reader(on: loop)
        case .postgresql(let url, let password, let keys):
            try PostgresReader(loop: loop, url: url, password: password, keys: keys)
        }
    }

    /// Returns a writer for the thread of `loop`. The caller starts and closes it.
    ///
    /// - Throws: ``StoreFault`` if OpenSSL fails.
    public func writer(on loop: EpollLoop) throws(StoreFault) -> RegistrationWriter {
        switch connector {
        case .sqlite(let store): store.writer(on: loop)
        case .postgresql(let url, let password, let keys):
            try PostgresWriter(loop: loop, url: url, password: password, keys: keys)
        }
    }
}
