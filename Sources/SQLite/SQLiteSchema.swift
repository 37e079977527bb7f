/// The versions of a database, and the SQL that leads from each to the next.
///
/// A file stores its version as `user_version`: the number of steps that were applied.
public struct SQLiteSchema: Sendable {
    /// Identifies the program in the file (`application_id`), so that it never changes a file of another program.
    public let application: Int32
    /// The statements of each step, separated by semicolons. Each step runs once, in a transaction of its own. A
    /// released step must not change.
    public let steps: [StaticString]

    public init(application: Int32, steps: [StaticString]) {
        self.application = application
        self.steps = steps
    }

    /// The version of a file after all steps.
    public var version: Int { steps.count }
}
