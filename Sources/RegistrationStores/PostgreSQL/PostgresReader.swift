import Crypto
public import EventLoop
public import PostgreSQL
public import Registrations

/// Lookups in PostgreSQL. One statement answers all queries of a lookup; a pipeline carries several lookups at once.
///
/// Belongs to one loop and is used on its thread only.
public final class PostgresReader: RegistrationReader {
    let connection: PostgresStoreConnection
    private let index: BlindIndex
    let coder: RowCoder

    /// The first call in a process loads libpq, which reads files: call ``PostgresLibrary/load()`` before.
    ///
    /// - Throws: ``StoreFault`` if libpq is missing or too old, or OpenSSL fails.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource, keys: RegistrationKeys
    ) throws(StoreFault) {
        connection = try PostgresStoreConnection(
            loop: loop, url: url, password: password,
            statements: PostgresReaderStatement.allCases.map(\.prepared),
            versionStatement: PostgresReaderStatement.version.rawValue)
        (index, coder) = try keys.makeIndexAndCoder()
    }

    /// The number of rows that could not be decrypted.
    public var unreadableCount: Int { coder.unreadableCount }

    public override func start(onChange: @escaping (StoreFault?) -> Void) {
        connection.start(onChange: onChange)
    }

    public override func lookUp(_ lookup: DeviceLookup) {
        do throws(CryptoError) {
            PostgresLookup(lookup, keys: try keys(of: lookup.queries), reader: self).begin()
        } catch {
            PostgresLookup(lookup, keys: [], reader: self).fail(StoreFault(error))
        }
    }

    public override func close() async { await connection.close() }

    private func keys(of queries: [DeviceQuery]) throws(CryptoError) -> [PostgresLookup.Keys] {
        var keys: [PostgresLookup.Keys] = []
        keys.reserveCapacity(queries.count)
        for query in queries {
            var scope: UUIDValue?
            if let name = query.scope { scope = try index.scopeKey(name) }
            keys.append(
                PostgresLookup.Keys(user: try index.userKey(app: query.app, user: query.user), scope: scope))
        }
        return keys
    }
}

extension RegistrationKeys {
    /// Returns the objects that use the keys.
    ///
    /// - Throws: ``StoreFault`` if OpenSSL fails.
    func makeIndexAndCoder() throws(StoreFault) -> (BlindIndex, RowCoder) {
        do throws(CryptoError) {
            return (try BlindIndex(self), try RowCoder(self))
        } catch {
            throw StoreFault(error)
        }
    }
}
