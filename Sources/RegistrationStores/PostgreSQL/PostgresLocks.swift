import Crypto
import PostgreSQL
import Registrations

/// The advisory locks of a store. Row locks alone do not keep two sessions from inserting rows of one user or device.
enum PostgresLocks {
    /// The number of locks that all keys of a store share. With a lock for each key, concurrent full batches could
    /// exhaust the server's memory for locks. With shared locks, a full batch soon needs a lock that another full batch
    /// holds, and waits. Small batches rarely share a lock.
    static let stripesMax: Int32 = 65_536
    /// The first of the two integers that identify a lock.
    static let namespace: Int32 = 0x4D_52_54_4C
    /// The second integer of the lock of migrations.
    static let migration: Int32 = -1
    /// The second integer of the lock of the whole store. Batches and edits share this lock. A large batch of an import
    /// holds it alone instead of the locks of its keys, which could exceed the server's memory for locks.
    static let store: Int32 = -2

    /// Returns the parameters of the statement that takes the locks.
    static func parameters(stripes: [Int32]) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(array: stripes)
        return parameters
    }

    /// Returns the second integers of the locks of a batch, without duplicates, in the order in which sessions take the
    /// locks.
    static func stripes(of keys: TouchedKeys) -> [Int32] {
        Set(keys.locks.map { Int32(truncatingIfNeeded: $0.low % UInt64(stripesMax)) }).sorted()
    }
}
