/// The reason why a store did not do its work. Its text is for operators, and contains no users and no tokens.
public struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// Raw values appear in the codes of breakers, in metrics and in logs.
    public enum Code: String, CaseIterable, Sendable, Hashable {
        /// The store cannot be reached, does not respond in time, is a standby, is locked, or reports an error of no
        /// other code.
        case unreachable
        /// The store refuses the login or lacks disk, memory or connections, or the library or configuration is not
        /// usable.
        case refused
        /// A table, column or privilege is missing, the version of the schema is unsuitable, or the file is damaged.
        case schema
        /// The values of a command are faulty. A repeat fails, too.
        case data
    }

    public var code: Code
    /// One sentence, which usually ends with the remedy.
    public var sentence: String
    /// The class of an SQLSTATE or the code of an SQLite error, for metrics; nil if the fault has neither.
    public var errorClass: String?

    public init(_ code: Code, _ sentence: String, errorClass: String? = nil) {
        (self.code, self.sentence, self.errorClass) = (code, sentence, errorClass)
    }

    public var description: String { sentence }
}
