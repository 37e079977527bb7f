/// The five characters by which PostgreSQL identifies an error, such as `40001`. The first two are its class.
///
/// https://www.postgresql.org/docs/current/errcodes-appendix.html
public struct SQLState: Sendable, Hashable, CustomStringConvertible {
    /// What an error means for the caller.
    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The server ends sessions, starts, stops, or canceled the statement (classes 08 and 57). Repeat later.
        case unreachable
        /// Login refused (class 28). Needs an operator.
        case refused
        /// Database, table, column or privilege missing (classes 42 and 3D). Needs a migration or an operator.
        case schema
        /// Disk, memory or connections exhausted (class 53).
        case full
        /// The values are faulty (classes 22 and 23). A repeat fails, too.
        case data
        /// Serialization failure or deadlock (40001, 40P01). Repeat the transaction at once.
        case retry
        /// The server is a standby, or forbids writes (25006). Another host may be the primary.
        case readOnly
        /// Another transaction held the lock for too long (55P03).
        case lockTimeout
        /// The result of a prepared statement has changed (0A000), usually after a migration. The connection prepares
        /// its statements again; repeat the statement.
        case stalePlan
        case other
    }

    /// The characters in ASCII, the first one in the highest of five bytes.
    private let packed: UInt64

    /// Returns nil unless the text is five digits and capital letters.
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

    /// The first two characters, the label of metrics.
    public var classText: String { String(description.prefix(2)) }

    public var outcome: Outcome {
        switch description {
        case "0A000": return .stalePlan
        case "25006": return .readOnly
        case "40001", "40P01": return .retry
        case "55P03": return .lockTimeout
        default: break
        }
        switch classText {
        case "08", "57": return .unreachable
        case "22", "23": return .data
        case "28": return .refused
        case "3D", "42": return .schema
        case "53": return .full
        default: return .other
        }
    }
}
