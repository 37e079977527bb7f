import EventLoop
import SQLite
import Threads

/// The statements of a small database.
struct Entries {
    static let schema = SQLiteSchema(
        application: 0x4d61_7274,
        steps: [
            "CREATE TABLE entry (key INTEGER PRIMARY KEY, value BLOB) STRICT",
            "CREATE TABLE mixed (number INTEGER, fraction REAL, word TEXT UNIQUE, bytes BLOB) STRICT; "
                + "CREATE INDEX mixed_number ON mixed (number)",
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
        insertion.bind(1, key)
        insertion.bind(2, blob: [UInt8](repeating: 0x5a, count: bytes))
        try insertion.run()
    }

    func keys() throws(SQLiteError) -> [Int64] {
        var keys: [Int64] = []
        try selection.forEachRow { row throws(SQLiteError) in keys.append(try row.int64(0)) }
        return keys
    }
}

extension SQLiteFile {
    static func entries(_ path: String, _ access: Access = .readWrite) throws(SQLiteError) -> SQLiteFile {
        try open(path, access, schema: Entries.schema)
    }
}

/// A job made of closures.
final class EntryJob: SQLiteJob<Entries>, @unchecked Sendable {
    private let body: (Entries) throws(SQLiteError) -> Void
    private let done: (SQLiteError?) -> Void

    init(
        on loop: EventLoop, _ body: @escaping (Entries) throws(SQLiteError) -> Void,
        done: @escaping (SQLiteError?) -> Void = { _ in }
    ) {
        self.body = body
        self.done = done
        super.init(on: loop)
    }

    override func run(_ entries: Entries) throws(SQLiteError) { try body(entries) }

    override func completed(_ error: SQLiteError?) {
        loop.assertOnLoop()
        done(error)
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
