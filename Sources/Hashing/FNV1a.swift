/// The 64-bit FNV-1a hash, which is the same in every process. It is not secure against chosen collisions.
public struct FNV1a: Sendable, Hashable {
    @usableFromInline var state: UInt64

    /// Creates the hash of an empty sequence.
    ///
    /// - Parameter seed: a value that changes the hash of the same bytes; 0 gives standard FNV-1a.
    @inlinable public init(seed: UInt64 = 0) {
        state = seed ^ 0xcbf2_9ce4_8422_2325
    }

    /// The hash of the bytes mixed so far.
    @inlinable public var value: UInt64 { state }

    @inlinable public mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    @inlinable public mutating func mix(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { mix(byte) }
    }
}
