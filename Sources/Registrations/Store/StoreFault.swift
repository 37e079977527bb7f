/// The id of a data key that the key file lacks.
public struct MissingDataKey: Error, Sendable, Hashable {
    public var id: Int

    public init(id: Int) { self.id = id }
}

/// The reason why a store did not do its work. Its text is for operators, and contains no users and no tokens.
public struct StoreFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause of a fault. Raw values appear in the codes of breakers, in metrics and in logs.
    public enum Code: String, CaseIterable, Sendable, Hashable {
        /// A store that is not available now, for example because it is down, slow, locked, closed or a standby. Also
        /// an error of no other code.
        case unreachable
        /// A store that cannot be used until an operator acts, although its schema is correct. Examples are a refused
        /// login, a full disk, a read-only file, and an unusable library or configuration.
        case refused
        /// A missing database, table, column or privilege, an unsuitable version of the schema, or a file that is
        /// damaged or belongs to another program.
        case schema
        /// Faulty values of a command. A repeat fails, too.
        case data
        /// A row or event whose data key the key file lacks. With the key, the work succeeds.
        case keys
    }

    public var code: Code
    /// One sentence, which usually ends with the remedy.
    public var sentence: String
    /// The class of an SQLSTATE or the code of an SQLite error; nil if the fault has neither.
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
