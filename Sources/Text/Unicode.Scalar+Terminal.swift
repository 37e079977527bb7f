/// Characters of external text that must not reach a terminal. JSON and logs escape these characters. Other output
/// replaces them.
extension Unicode.Scalar {
    /// Whether the character can control a terminal or mislead its reader. Such characters are C0, DEL, C1, and the
    /// separators of lines and paragraphs. Format characters such as U+202E reorder or hide text.
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
