extension [UInt8] {
    /// Removes LF or CR LF at the end, or a CR alone.
    package mutating func removeLineEnd() {
        if last == UInt8(ascii: "\n") { removeLast() }
        if last == UInt8(ascii: "\r") { removeLast() }
    }
}
