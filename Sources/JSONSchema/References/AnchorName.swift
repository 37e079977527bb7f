/// The valid names for `$anchor` and `$dynamicAnchor`, from the meta-schemas of the drafts.
enum AnchorName {
    /// Returns whether the name matches `^[A-Za-z_][-A-Za-z0-9._]*$`.
    static func isOf202012(_ name: String) -> Bool { isName(name, first: "_", further: "_-.") }

    /// Returns whether the name matches `^[A-Za-z][-A-Za-z0-9.:_]*$`.
    static func isOf201909(_ name: String) -> Bool { isName(name, first: "", further: "_-.:") }

    /// Returns whether the name is a letter or one of `first`, followed by letters, digits and characters of `further`.
    private static func isName(_ name: String, first: String, further: String) -> Bool {
        guard let start = name.utf8.first, isLetter(start) || first.utf8.contains(start) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || $0 &- UInt8(ascii: "0") < 10 || further.utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}
