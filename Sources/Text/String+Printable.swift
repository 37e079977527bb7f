extension String {
    /// The text with U+FFFD in place of characters that could control a terminal.
    public var printable: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.steersTerminal ? "\u{FFFD}" : $0 }))
    }
}
