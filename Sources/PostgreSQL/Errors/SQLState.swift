/// The five characters by which PostgreSQL identifies an error, such as `40001`. The first two are the error's class.
///
/// https://www.postgresql.org/docs/current/errcodes-appendix.html
public struct SQLState: Sendable, Hashable, CustomStringConvertible {
    /// The meaning of an error for the caller.
    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// An unavailable server, or a canceled statement (classes 08 and 57). Repeat later.
        case unreachable
        /// A refused login, or a role that does not exist (classes 28 and 0P). An operator must correct the cause.
        case refused
        /// A missing database (class 3D). An operator must create the database, or correct the name in the URL.
        case databaseMissing
        /// A privilege that the role lacks (42501). An operator must grant it.
        case privilegeMissing
        /// A schema, table or column that is missing or has another type (classes 42 and 3F). A migration or an
        /// operator must correct the schema.
        case schema
        /// A prepared statement that is unknown (26000) or exists already (42P05). A pooler has given the session to
        /// another client.
        case sharedSession
        /// An exhausted disk, memory or number of connections of the server (class 53).
        case full
        /// Values that the server refused (classes 22 and 23).
        case data
        /// A transaction that conflicted with another one (40001, 40P01). Repeat the transaction at once.
        case retry
        /// A read-only session, usually on a standby (25006). Another host may be the primary.
        case readOnly
        /// A lock that another transaction held for too long (55P03).
        case lockTimeout
        /// A prepared statement whose result type has changed (0A000), usually after a migration. The connection
        /// prepares its statements again. Repeat the statement.
        case stalePlan
        case other
    }

    /// The characters in ASCII, the first one in the highest of five bytes.
    private let packed: UInt64

    /// Returns nil unless the text consists of five digits or capital letters.
    public init?(_ text: some Sequence<UInt8>) {
        var packed: UInt64 = 0
        var count = 0
        for byte in text {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): break
            default: return nil
            }
            packed = packed << 8 | UInt64(byte)
            count += 1
            guard count <= 5 else { return nil }
        }
        guard count == 5 else { return nil }
        self.packed = packed
    }

    public init?(_ text: String) {
        self.init(text.utf8)
    }

    public var description: String {
        String(decoding: (0..<5).map { UInt8(truncatingIfNeeded: packed >> (8 * (4 - $0))) }, as: UTF8.self)
    }

    /// The first two characters, which are a label of metrics.
    public var classText: String { String(description.prefix(2)) }

    public var outcome: Outcome {
        switch description {
        case "0A000": return .stalePlan
        case "25006": return .readOnly
        case "40001", "40P01": return .retry
        case "55P03": return .lockTimeout
        case "42501": return .privilegeMissing
        case "26000", "42P05": return .sharedSession
        default: break
        }
        switch classText {
        case "08", "57": return .unreachable
        case "22", "23": return .data
        case "0P", "28": return .refused
        case "3D": return .databaseMissing
        case "3F", "42": return .schema
        case "53": return .full
        default: return .other
        }
    }
}
