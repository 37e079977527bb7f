/// The length and the first and last eight bytes of a key. They contain a complete key of up to 16 bytes, and are a
/// good filter for longer keys. Public, like the tape's view, only to be inlinable in other modules.
@frozen public struct KeyFingerprint: Equatable {
    public var count: UInt32
    public var first: UInt64
    public var last: UInt64

    @inlinable public init(count: UInt32, first: UInt64, last: UInt64) {
        self.count = count
        self.first = first
        self.last = last
    }

    /// Creates the fingerprint of a text that may be followed by other bytes.
    ///
    /// - Parameter text: at least eight readable bytes, regardless of `count`, like each text on a tape.
    @inlinable public init(padded text: UnsafePointer<UInt8>, count: UInt32) {
        let word = UInt64(littleEndian: UnsafeRawPointer(text).loadUnaligned(as: UInt64.self))
        if count < 8 {
            self.init(count: count, first: word & ~(~0 << (UInt64(count) * 8)), last: 0)
        } else {
            let end = UnsafeRawPointer(text) + (Int(count) - 8)
            self.init(count: count, first: word, last: UInt64(littleEndian: end.loadUnaligned(as: UInt64.self)))
        }
    }

    init(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        let text = UnsafeRawBufferPointer(start: name.utf8Start, count: count)
        // Add zeros, because the load at the start of the name reads eight bytes even if the name is shorter.
        let padded = [UInt8](text) + [UInt8](repeating: 0, count: MemoryLayout<UInt64>.size)
        self.init(padded: padded, count: UInt32(truncatingIfNeeded: count))
    }

    @inlinable public static func == (left: KeyFingerprint, right: KeyFingerprint) -> Bool {
        left.first == right.first && left.last == right.last && left.count == right.count
    }

    @inlinable public var fingerprint: UInt64 {
        let mixed = (first &+ UInt64(count)) &* 0x9E37_79B9_7F4A_7C15 ^ (last &* 0xC2B2_AE3D_27D4_EB4F)
        return mixed ^ mixed >> 32
    }

    /// Returns a hash of all bytes of the key. Therefore, long keys that differ only in the middle usually have
    /// different hashes, too. The hash is not secret. Use it only for tables whose keys a peer cannot choose.
    @inlinable public func hash(padded text: UnsafePointer<UInt8>) -> UInt64 {
        var hash = fingerprint
        var offset = 8
        while offset + 8 < Int(count) {
            let word = UInt64(littleEndian: UnsafeRawPointer(text + offset).loadUnaligned(as: UInt64.self))
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
            offset += 8
        }
        return hash
    }
}
