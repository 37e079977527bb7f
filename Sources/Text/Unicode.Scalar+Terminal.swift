/// Characters of external text that must not reach a terminal. JSON and logs escape these characters. Other output
/// replaces them.
extension Unicode.Scalar {
    /// Whether the character can control a terminal or mislead its reader: C0, DEL, C1, format characters such as
    /// U+202E, which reorder or hide text, and the separators of lines and paragraphs.
    @inlinable public var steersTerminal: Bool {
        // Nearly all text is ASCII, and the lookup of a property is slow.
        isASCII ? value < 0x20 || value == 0x7F : isNonASCIIThatSteers
    }

    @usableFromInline var isNonASCIIThatSteers: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
