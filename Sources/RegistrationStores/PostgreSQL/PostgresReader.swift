import Crypto
public import EventLoop
public import PostgreSQL
public import Registrations

/// A reader that looks up devices in PostgreSQL. One statement answers all queries of a lookup, and several lookups can
/// be in flight.
///
/// Loop-bound.
public final class PostgresReader: RegistrationReader {
    let connection: PostgresStoreConnection
    private let index: BlindIndex
    let coder: RowCoder

    /// Loads libpq, unless the process has loaded it. Loading reads files, so call ``PostgresLibrary/load()`` before
    /// lanes start.
    ///
    /// - Throws: ``StoreFault`` if libpq cannot be loaded or is too old, or OpenSSL fails.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource, keys: RegistrationKeys,
        limits: PostgresConfiguration.Limits = PostgresConfiguration.Limits()
    ) throws(StoreFault) {
        connection = try PostgresStoreConnection(
            loop: loop, url: url, password: password, limits: limits,
            statements: PostgresReaderStatement.allCases.map(\.prepared),
            versionStatement: PostgresReaderStatement.version.rawValue)
        (index, coder) = try keys.makeIndexAndCoder()
    }

    /// The number of times that a row could not be decrypted.
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
    /// Returns the index and the coder that use the keys.
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
