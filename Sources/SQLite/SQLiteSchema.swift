/// The versions of a database, and the SQL that migrates each version to the next.
///
/// A file stores its version as `user_version`. The version is the number of steps that were applied.
public struct SQLiteSchema: Sendable {
    /// The `application_id` of the program's files. `SQLiteFile.open` refuses a database with another ID, unless the
    /// database is empty.
    public let application: Int32
    /// The SQL of each step, with semicolons between its statements. Each step runs once per file, in its own
    /// transaction. A released step must not change.
    public let steps: [StaticString]

    public init(application: Int32, steps: [StaticString]) {
        self.application = application
        self.steps = steps
    }

    /// The version of a file after all steps.
    public var version: Int { steps.count }
}
