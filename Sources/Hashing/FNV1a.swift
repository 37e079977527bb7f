/// The hash FNV-1a of 64 bits, which is the same in every process; for tables and comparisons, no protection against
/// anybody.
public struct FNV1a: Sendable, Hashable {
    @usableFromInline var state: UInt64

    /// - Parameter seed: makes another hash of the same bytes; 0 for the one that all know.
    @inlinable public init(seed: UInt64 = 0) {
        state = seed ^ 0xcbf2_9ce4_8422_2325
    }

    /// The hash of what was mixed so far.
    @inlinable public var value: UInt64 { state }

    @inlinable public mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    @inlinable public mutating func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { mix(byte) }
    }
}
