import Crypto
import Registrations

/// The advisory locks of a store. A lock on rows does not exclude that two sessions insert rows of one user or device.
enum PostgresLocks {
    /// The number of locks of a store. The server has memory for some thousands of locks in all. Keys that share a lock
    /// keep large batches of several sessions below this bound: a batch of 1,300 keys meets a lock of another one early
    /// on, and waits with few locks. Small batches rarely meet.
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
