import EventLoop
import SQLite
import Threads

/// A small database and its statements.
struct Entries {
    static let schema = SQLiteSchema(
        application: 0x4d61_7274,
        steps: [
            "CREATE TABLE entry (key INTEGER PRIMARY KEY, value BLOB) STRICT",
            """
            CREATE TABLE mixed (number INTEGER, fraction REAL, word TEXT UNIQUE, bytes BLOB) STRICT;
            CREATE INDEX mixed_number ON mixed (number)
            """,
        ])

    let file: SQLiteFile
    private let insertion: SQLiteStatement
    private let selection: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        self.file = file
        insertion = try file.prepare("INSERT INTO entry (key, value) VALUES (?, ?)")
        selection = try file.prepare("SELECT key FROM entry ORDER BY key")
    }

    func insert(_ key: Int64, bytes: Int = 16) throws(SQLiteError) {
        insertion.bind(1, int64: key)
        insertion.bind(2, blob: [UInt8](repeating: 0x5a, count: bytes))
        try insertion.run()
    }

    func keys() throws(SQLiteError) -> [Int64] {
        var keys: [Int64] = []
        try selection.forEachRow { row throws(SQLiteError) in keys.append(try row.int64(0)) }
        return keys
    }

    /// Runs a statement that has endless rows, and calls `body` for each row.
    func runEndlessStatement(_ body: () -> Void) throws(SQLiteError) {
        let statement = try file.prepare(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        try statement.forEachRow { _ throws(SQLiteError) in body() }
    }
}

extension SQLiteFile {
    static func entries(_ path: String, _ access: Access = .readWrite) throws(SQLiteError) -> SQLiteFile {
        try open(path, access, schema: Entries.schema)
    }
}

/// A job that a test gives as a closure.
final class EntryJob: SQLiteJob<Entries>, @unchecked Sendable {
    private let body: (Entries) throws(SQLiteError) -> Void
    private let outcomes: Outcomes
    private let number: Int

    init(on loop: EventLoop, into outcomes: Outcomes, _ body: @escaping (Entries) throws(SQLiteError) -> Void) {
        self.body = body
        self.outcomes = outcomes
        number = outcomes.added()
        super.init(on: loop)
    }

    override func run(_ entries: Entries) throws(SQLiteError) { try body(entries) }

    override func completed(_ error: SQLiteError?) {
        loop.assertOnLoop()
        outcomes.completed(number, error)
    }
}

/// The outcomes of jobs of one loop, in the order of their completion.
final class Outcomes {
    private var jobs = 0
    /// The numbers of the completed jobs, in the order of completion. Jobs are numbered from 0 in the order of
    /// creation.
    private(set) var order: [Int] = []
    /// The error codes of the completed jobs, in the same order; nil for a job without an error.
    private(set) var codes: [SQLiteError.Code?] = []

    var areComplete: Bool { order.count == jobs }

    func added() -> Int {
        defer { jobs += 1 }
        return jobs
    }

    func completed(_ number: Int, _ error: SQLiteError?) {
        order.append(number)
        codes.append(error?.code)
    }
}

/// A point at which a job waits for a test.
final class Gate: Sendable {
    private let lock = ConditionLock()
    private nonisolated(unsafe) var isReached = false
    private nonisolated(unsafe) var isOpen = false

    /// Whether a job waits or has passed.
    var hasVisitor: Bool { lock.withLock { isReached } }

    func pass() {
        lock.withLock {
            isReached = true
            lock.wait { isOpen }
        }
    }

    func open() {
        lock.withLock {
            isOpen = true
            lock.wakeAll()
        }
    }
}
