extension String {
    /// Returns the text with each occurrence of `text` replaced. Compares Unicode scalars, as a parser of another
    /// program does. `replacing` compares characters, and misses a quote with a combining mark.
    public func replacingScalars(_ text: String, with replacement: String) -> String {
        String(unicodeScalars.replacing(text.unicodeScalars, with: replacement.unicodeScalars))
    }
}
