private import CPCRE2

/// A regular expression of a schema. It owns C memory that `free()` gives back.
struct Pattern: BitwiseCopyable {
    let code: OpaquePointer
    /// The expression without PCRE2, where it is simple enough; else nil.
    private let items: UnsafeMutableBufferPointer<ClassSequence.Item>?

    var sequence: UnsafeBufferPointer<ClassSequence.Item>? { items.map { UnsafeBufferPointer($0) } }

    enum Match {
        case yes
        case no
        /// The match took more steps than it may.
        case gaveUp
    }

    /// `expression` is of ECMA-262.
    init(_ expression: UnsafeRawBufferPointer) throws(PatternError) {
        let translated = try ECMAExpression.translated(expression)
        var errorCode: Int32 = 0
        var errorOffset = 0
        // The callouts tell the matcher how far it has moved, so that it can be stopped.
        let options =
            UInt32(PCRE2_UTF) | UInt32(PCRE2_DOLLAR_ENDONLY) | UInt32(PCRE2_MATCH_UNSET_BACKREF)
            | UInt32(PCRE2_NEVER_BACKSLASH_C) | UInt32(PCRE2_AUTO_CALLOUT)
        let code = pcre2_compile_8(translated, translated.count, options, &errorCode, &errorOffset, nil)
        guard let code else {
            var text = [UInt8](repeating: 0, count: 256)
            let length = pcre2_get_error_message_8(errorCode, &text, text.count)
            throw PatternError(message: String(decoding: text.prefix(max(Int(length), 0)), as: UTF8.self), offset: 0)
        }
        self.code = code
        items = ClassSequence.items(expression).map { items in
            let memory = UnsafeMutableBufferPointer<ClassSequence.Item>.allocate(capacity: items.count)
            _ = memory.initialize(from: items)
            return memory
        }
    }

    func free() {
        pcre2_code_free_8(code)
        items?.deallocate()
    }
}

struct PatternError: Error {
    var message: String
    /// Bytes before the place in the expression.
    var offset: Int
}

extension Pattern {
    /// Bytes of an expression that comes with a message.
    static let foreignBytesMax = 10_000

    /// Whether a text is a regular expression of ECMA-262.
    static func isExpression(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count <= foreignBytesMax, let pattern = try? Pattern(text) else { return false }
        pattern.free()
        return true
    }
}
