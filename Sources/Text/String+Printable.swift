extension String {
    /// Foreign text for a terminal: characters that could control it are replaced by U+FFFD.
    public var printable: String {
        guard unicodeScalars.contains(where: \.steersTerminal) else { return self }
        return String(String.UnicodeScalarView(unicodeScalars.map { $0.steersTerminal ? "\u{FFFD}" : $0 }))
    }
}
