/// The id of a data key that the key file lacks.
public struct MissingDataKey: Error, Sendable, Hashable {
    public var id: Int

    public init(id: Int) { self.id = id }
}

/// The reason why a store did not do its work. Its text is for operators, and contains no users and no tokens.
public struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause of a fault. Raw values appear in the codes of breakers, in metrics and in logs.
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
        /// The key file lacks the data key of a row or event. With the key, the work succeeds.
        case keys
    }

    public var code: Code
    /// One sentence, which usually ends with the remedy.
    public var sentence: String
    /// The class of an SQLSTATE or the code of an SQLite error, for metrics; nil if the fault has neither.
    public var errorClass: String?

    public init(_ code: Code, _ sentence: String, errorClass: String? = nil) {
        (self.code, self.sentence, self.errorClass) = (code, sentence, errorClass)
    }

    /// Creates the fault of a row or event that is encrypted with a missing data key.
    public init(_ missing: MissingDataKey) {
        self.init(
            .keys,
            "cannot decrypt registrations: keys_file has no data key \(missing.id); copy a key file with this key to all "
                + "workers")
    }

    public var description: String { sentence }
}
