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

    /// Steps of the matcher, so that no expression and no text can hold up a lane: about 10 ms.
    static let stepsMax: UInt32 = 250_000
    /// Nesting of the matcher's backtracking points, and KiB of heap it may use for them.
    static let depthMax: UInt32 = 10_000
    static let heapKibibytesMax: UInt32 = 4096

    /// ECMA-262's syntax, as far as PCRE2 has options for it: `\u0041`, `$` at the very end only, `[]` matches nothing;
    /// classes such as `\d` are those of ASCII.
    init(_ expression: UnsafeRawBufferPointer) throws(PatternError) {
        var errorCode: Int32 = 0
        var errorOffset = 0
        let options =
            UInt32(PCRE2_UTF) | UInt32(PCRE2_ALT_BSUX) | UInt32(PCRE2_DOLLAR_ENDONLY) | UInt32(PCRE2_ALLOW_EMPTY_CLASS)
            | UInt32(PCRE2_MATCH_UNSET_BACKREF) | UInt32(PCRE2_NEVER_BACKSLASH_C)
        let code = pcre2_compile_8(
            expression.bindMemory(to: UInt8.self).baseAddress, expression.count, options, &errorCode, &errorOffset, nil)
        guard let code else {
            var text = [UInt8](repeating: 0, count: 256)
            let length = pcre2_get_error_message_8(errorCode, &text, text.count)
            throw PatternError(
                message: String(decoding: text.prefix(max(Int(length), 0)), as: UTF8.self), offset: errorOffset)
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
    var offset: Int
}

/// The memory that matching needs; one for each validator.
struct PatternMatcher: ~Copyable {
    private let data: OpaquePointer
    private let context: OpaquePointer

    init() {
        // Nil when memory is exhausted, where Swift itself ends the process as well.
        guard let data = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
            fatalError("no memory for a matcher")
        }
        pcre2_set_match_limit_8(context, Pattern.stepsMax)
        pcre2_set_depth_limit_8(context, Pattern.depthMax)
        pcre2_set_heap_limit_8(context, Pattern.heapKibibytesMax)
        self.data = data
        self.context = context
    }

    deinit {
        pcre2_match_data_free_8(data)
        pcre2_match_context_free_8(context)
    }

    /// `text` must be well-formed UTF-8, as everything that the JSON parser read is.
    func match(_ pattern: Pattern, _ text: UnsafeRawBufferPointer) -> Pattern.Match {
        if let items = pattern.sequence { return ClassSequence.matches(items, text) ? .yes : .no }
        let result = pcre2_match_8(
            pattern.code, text.bindMemory(to: UInt8.self).baseAddress, text.count, 0, UInt32(PCRE2_NO_UTF_CHECK), data,
            context)
        // 0: it matched and the groups did not fit, which nobody asked for.
        if result >= 0 { return .yes }
        return result == PCRE2_ERROR_NOMATCH ? .no : .gaveUp
    }
}
