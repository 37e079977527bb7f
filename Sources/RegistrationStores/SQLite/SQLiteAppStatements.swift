import Registrations
import SQLite

/// The statements of the table `app`.
struct SQLiteAppStatements {
    /// The apps of a store and their numbers. Jobs do not share them, because a rollback may remove apps that a job has
    /// inserted.
    struct Apps {
        private var numbers: [ByteText: Int] = [:]
        private(set) var names: [Int: String] = [:]

        func number(of name: String) -> Int? { numbers[name.exact] }

        fileprivate mutating func add(_ name: String, number: Int) {
            (numbers[name.exact], names[number]) = (number, name)
        }
    }

    private let select: SQLiteStatement
    private let insert: SQLiteStatement

    init(_ file: SQLiteFile) throws(SQLiteError) {
        select = try file.prepare("SELECT id, bundle_id FROM app")
        insert = try file.prepare("INSERT INTO app (bundle_id) VALUES (?) RETURNING id")
    }

    func all() throws(SQLiteError) -> Apps {
        var apps = Apps()
        try select.forEachRow { row throws(SQLiteError) in apps.add(try row.text(1), number: try row.int(0)) }
        return apps
    }

    /// Returns the number of an app. Inserts the app if it is new.
    func number(of name: String, in apps: inout Apps) throws(SQLiteError) -> Int {
        if let number = apps.number(of: name) { return number }
        insert.bind(1, text: name)
        guard let number = try insert.firstRow({ row throws(SQLiteError) in try row.int(0) }) else {
            throw SQLiteError(.statement, "cannot number an app: the statement returned no row")
        }
        apps.add(name, number: number)
        return number
    }
}
