public import EventLoop
public import PostgreSQL
public import Registrations

/// Changes in PostgreSQL. Transactions follow each other on one connection, in the order of the calls.
///
/// Belongs to one loop and is used on its thread only.
public final class PostgresWriter: RegistrationWriter {
    private let context: PostgresWriterContext

    /// The first call in a process loads libpq, which reads files: call ``PostgresLibrary/load()`` before.
    ///
    /// - Throws: ``StoreFault`` if libpq is missing or too old, or OpenSSL fails.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource, keys: RegistrationKeys
    ) throws(StoreFault) {
        let connection = try PostgresStoreConnection(
            loop: loop, url: url, password: password,
            statements: PostgresWriterStatement.allCases.map(\.prepared),
            versionStatement: PostgresWriterStatement.version.rawValue)
        let (index, coder) = try keys.makeIndexAndCoder()
        context = PostgresWriterContext(connection: connection, index: index, coder: coder)
    }

    /// The number of rows and events that could not be decrypted.
    public var unreadableCount: Int { context.coder.unreadableCount }

    public override func start(onChange: @escaping (StoreFault?) -> Void) {
        // After a failover, a number may belong to another app.
        context.connection.start(onChange: onChange) { [context] in context.apps = PostgresApps() }
    }

    public override func apply(_ batch: CommandBatch) { PostgresBatch(batch, context).begin() }

    public override func delete(_ events: EventDeletion) { PostgresDeletion(events, context).begin() }

    public override func maintain(_ maintenance: Maintenance) { PostgresMaintenance(maintenance, context).begin() }

    public override func read(_ page: RegistrationPage) { PostgresPage(page, context).begin() }

    public override func edit(_ page: EditPage) { PostgresEdit(page, context).begin() }

    public override func close() async { await context.connection.close() }
}
