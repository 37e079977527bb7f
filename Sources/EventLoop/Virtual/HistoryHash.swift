import Hashing

/// A running hash over events. Two runs with the same history have the same value.
public struct HistoryHash: Sendable, Hashable {
    private var hash = FNV1a()

    public init() {}

    public var value: UInt64 { hash.value }

    public mutating func mix(_ time: MonotonicTime, _ number: Int, _ bytes: some Sequence<UInt8>) {
        mix(UInt64(bitPattern: time.nanoseconds))
        mix(UInt64(bitPattern: Int64(number)))
        hash.mix(bytes)
    }

    private mutating func mix(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { hash.mix(UInt8(truncatingIfNeeded: word >> shift)) }
    }
}
