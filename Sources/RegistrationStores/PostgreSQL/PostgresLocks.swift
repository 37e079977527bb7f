import Crypto
import Registrations

/// The advisory locks of a store. A lock on rows does not exclude that two sessions insert rows of one user or device.
enum PostgresLocks {
    /// The number of locks of a store. A lock for each key would exhaust the server's memory for locks: by default, ten
    /// full batches fit. Keys that share a lock prevent this: a full batch meets a lock of another one after some 50
    /// locks, and waits. Small batches rarely meet.
    static let stripesMax: Int32 = 65_536
    /// The first number of each lock.
    static let namespace: Int32 = 0x4D_52_54_4C
    /// The second number of the lock of migrations.
    static let migration: Int32 = -1

    /// Returns the second numbers of the locks of a batch, in the order in which sessions take them, without duplicates.
    static func stripes(of keys: TouchedKeys) -> [Int32] {
        Set(keys.locks.map { Int32(truncatingIfNeeded: $0.low % UInt64(stripesMax)) }).sorted()
    }
}
