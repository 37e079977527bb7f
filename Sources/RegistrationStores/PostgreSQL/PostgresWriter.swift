public import EventLoop
public import PostgreSQL
public import Registrations

/// A writer of a PostgreSQL store. One connection performs its transactions one after another.
///
/// Loop-bound.
public final class PostgresWriter: RegistrationWriter {
    let context: PostgresWriterContext

    /// Loads libpq, unless the process has loaded it. Loading reads files, so call ``PostgresLibrary/load()`` before
    /// lanes start.
    ///
    /// - Throws: ``StoreFault`` if libpq is missing or too old, or OpenSSL fails.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource, keys: RegistrationKeys,
        limits: PostgresConfiguration.Limits = PostgresConfiguration.Limits()
    ) throws(StoreFault) {
        let connection = try PostgresStoreConnection(
            loop: loop, url: url, password: password, limits: limits,
            statements: PostgresWriterStatement.allCases.map(\.prepared),
            versionStatement: PostgresWriterStatement.version.rawValue)
        let (index, coder) = try keys.makeIndexAndCoder()
        context = PostgresWriterContext(connection: connection, index: index, coder: coder)
    }

    /// The number of times that a row or event could not be decrypted.
    public var unreadableCount: Int { context.coder.unreadableCount }

    public override func start(onChange: @escaping (StoreFault?) -> Void) {
        // After a failover, the number of an app may belong to another app.
        context.connection.start(onChange: onChange) { [context] in context.apps = PostgresApps() }
    }

    public override var importCommandsMax: Int { PostgresBatch.commandsMax }

    public override func apply(_ batch: CommandBatch) { PostgresBatch(batch, context).begin() }

    public override func delete(_ events: EventDeletion) { PostgresDeletion(events, context).begin() }

    public override func maintain(_ maintenance: Maintenance) { PostgresMaintenance(maintenance, context).begin() }

    public override func read(_ page: RegistrationPage) { PostgresPage(page, context).begin() }

    public override func read(_ page: MarkPage) { PostgresMarkPage(page, context).begin() }

    public override func edit(_ page: EditPage) { PostgresEdit(page, context).begin() }

    public override func close() async { await context.connection.close() }
}
