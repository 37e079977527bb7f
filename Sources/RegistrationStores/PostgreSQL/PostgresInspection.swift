public import EventLoop
public import PostgreSQL
public import Registrations

/// The properties of a server and of the user of a worker that operators check.
public struct PostgresInspection: Sendable, Hashable {
    /// The oldest version of the server that a store can use.
    public static let serverVersionMin = 130_000

    /// The version in the server's format, such as 150018.
    public var serverVersion: Int
    /// The rights that a worker needs and the user lacks, such as `INSERT on martlet.event`, separated by commas; empty
    /// if none is missing.
    public var missingRights = ""
    /// Rights that the user has and no worker needs, in the same format; `all rights of a superuser` for a superuser.
    public var excessRights = ""
    /// The indexes of the schema that are missing or invalid, separated by commas; empty if all are valid.
    public var invalidIndexes = ""
    /// The number of further connections that the server accepts from the user.
    public var connectionsLeft: Int

    public init(serverVersion: Int, connectionsLeft: Int) {
        (self.serverVersion, self.connectionsLeft) = (serverVersion, connectionsLeft)
    }

    /// The version as text, such as `15.18`.
    public var serverVersionText: String { "\(serverVersion / 10_000).\(serverVersion % 10_000)" }

    /// Connects as the user of the URL, and inspects the server. Call it on the loop's thread.
    ///
    /// - Throws: ``StoreFault``, also if the schema is missing or the user has no access to it.
    public init(
        loop: EpollLoop, url: PostgresURL, password: @escaping PostgresPasswordSource
    ) async throws(StoreFault) {
        let session = try PostgresCommandSession(
            loop, url, password, PostgresInspectionStatement.allCases.map(\.sql), applicationName: "martlet doctor")
        let result: Result<Self, StoreFault>
        do throws(StoreFault) {
            try await session.connect()
            var inspection = Self(
                serverVersion: try await session.number(.serverVersion),
                connectionsLeft: try await session.number(.connectionsLeft))
            inspection.missingRights = try await session.list(.missingRights)
            inspection.excessRights = try await session.list(.excessRights)
            inspection.invalidIndexes = try await session.list(.invalidIndexes)
            result = .success(inspection)
        } catch {
            result = .failure(error)
        }
        await session.close()
        self = try result.get()
    }
}

extension PostgresCommandSession {
    fileprivate func number(_ statement: PostgresInspectionStatement) async throws(StoreFault) -> Int {
        try await run(statement.rawValue) { rows throws(PostgresError) in
            Int(try rows.value(Int32.self, row: 0, column: 0))
        }
    }

    fileprivate func list(_ statement: PostgresInspectionStatement) async throws(StoreFault) -> String {
        try await run(statement.rawValue) { rows throws(PostgresError) in
            try rows.value(String.self, row: 0, column: 0)
        }
    }
}
