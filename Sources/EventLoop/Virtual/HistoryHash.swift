/// A running FNV-1a hash over what happened; two runs with the same history have the same value.
public struct HistoryHash: Sendable, Hashable {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    public mutating func mix(_ time: MonotonicTime, _ number: Int, _ bytes: some Sequence<UInt8>) {
        mix(UInt64(bitPattern: time.nanoseconds))
        mix(UInt64(bitPattern: Int64(number)))
        for byte in bytes { mix(byte) }
    }

    public mutating func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { mix(byte) }
    }

    public mutating func mix(_ word: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    private mutating func mix(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }
}
