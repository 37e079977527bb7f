private import CPCRE2

/// An expression compiled by PCRE2. Release the memory with `free()`.
struct BacktrackingPattern: BitwiseCopyable {
    let code: OpaquePointer
    /// The effort per byte of text. It is higher if PCRE2 has to search for characters or Unicode properties.
    let byteEffort: Int
    /// Whether the expression has backreferences.
    let looksBack: Bool

    init(_ expression: ECMAExpression) throws(PatternError) {
        var errorCode: Int32 = 0
        var errorOffset = 0
        // Callouts report the progress to the matcher, which can then stop the match.
        let options =
            UInt32(PCRE2_UTF) | UInt32(PCRE2_DOLLAR_ENDONLY) | UInt32(PCRE2_MATCH_UNSET_BACKREF)
            | UInt32(PCRE2_NEVER_BACKSLASH_C) | UInt32(PCRE2_AUTO_CALLOUT)
        let text = expression.asPCRE2
        let code = pcre2_compile_8(text, text.count, options, &errorCode, &errorOffset, nil)
        guard let code else {
            var text = [UInt8](repeating: 0, count: 256)
            let length = pcre2_get_error_message_8(errorCode, &text, text.count)
            throw PatternError(message: String(decoding: text.prefix(max(Int(length), 0)), as: UTF8.self), offset: nil)
        }
        self.code = code
        var reference: UInt32 = 0
        pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_BACKREFMAX), &reference)
        looksBack = reference > 0
        byteEffort = 1 + 2 * expression.searchesMax
    }

    func free() { pcre2_code_free_8(code) }
}
