/// The input of a keyed hash. Each text is preceded by its length, so that no two lists of texts give the same bytes.
struct BlindIndexInput {
    /// The length that represents a missing text.
    private static let missing = UInt32.max

    private(set) var bytes: [UInt8] = []

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func append(_ number: Int) {
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ text: String?) {
        guard let text else { return append(Int(Self.missing)) }
        append(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }
}
