import Hashing

/// A place in a file, with the hash of all bytes before it.
package struct ImportPlace: Equatable, Sendable {
    /// The number of complete lines before the place.
    package private(set) var line = 0
    package private(set) var bytes = 0
    private var hasher = FNV1a()

    /// The hash of the bytes before the place. It detects an accidental change of these bytes.
    package var hash: UInt64 { hasher.value }

    mutating func advance(over consumed: ArraySlice<UInt8>) {
        bytes += consumed.count
        hasher.mix(consumed)
    }

    mutating func endLine() { line += 1 }
}
