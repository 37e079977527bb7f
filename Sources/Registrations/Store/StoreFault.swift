/// The reason why a store did not do its work. A text for operators, without users and tokens.
public struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Raw values are the codes of breakers, metrics and logs.
    public enum Code: String, CaseIterable, Sendable, Hashable {
        /// No connection, no response in time, a standby, or a lock that another session holds.
        case unreachable
        /// The store refuses the login, or has no more disk, memory or connections.
        case refused
        /// A table, a column or a right is missing, or the schema has another version.
        case schema
        /// The values of a command are faulty. A repeat fails, too.
        case data
    }

    public var code: Code
    /// One sentence, with the remedy.
    public var sentence: String
    /// The class of an SQLSTATE or the code of an SQLite error, a label of metrics; nil without an error of a database.
    public var errorClass: String?

    public init(_ code: Code, _ sentence: String, errorClass: String? = nil) {
        (self.code, self.sentence, self.errorClass) = (code, sentence, errorClass)
    }

    public var description: String { sentence }
}
