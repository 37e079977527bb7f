private import CPCRE2

/// The memory that matching needs; one for each validator. All patterns for one value share one effort, so that neither
/// one long string nor many short ones can hold up a lane: PCRE2's own limits count steps, and a step may pass over a
/// whole string.
struct PatternMatcher: ~Copyable {
    private let data: OpaquePointer
    private let context: OpaquePointer
    private let effort: UnsafeMutablePointer<Effort>

    /// Roughly nanoseconds.
    struct Effort {
        var left = 0
        var position = 0
    }

    /// For any value, and more for each of its bytes: about 10 ms for a message of 1 MiB.
    static let effortMin = 2_000_000
    static let effortPerByte = 8
    /// What a part of an expression costs, and with it each byte that is moved over.
    static let stepEffort = 8
    /// Steps of the matcher, nesting of its backtracking points, KiB of heap that it may use for them: for one match.
    static let stepsMax: UInt32 = 1_000_000
    static let depthMax: UInt32 = 100_000
    static let heapKibibytesMax: UInt32 = 16_384

    init() {
        // Nil when memory is exhausted, where Swift itself ends the process as well.
        guard let data = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
            fatalError("no memory for a matcher")
        }
        pcre2_set_match_limit_8(context, Self.stepsMax)
        pcre2_set_depth_limit_8(context, Self.depthMax)
        pcre2_set_heap_limit_8(context, Self.heapKibibytesMax)
        effort = .allocate(capacity: 1)
        effort.initialize(to: Effort())
        pcre2_set_callout_8(
            context,
            { block, effort in
                guard let block, let effort = effort?.assumingMemoryBound(to: Effort.self) else { return 0 }
                let position = block.pointee.current_position
                let distance = abs(position - effort.pointee.position)
                effort.pointee.position = position
                effort.pointee.left -= PatternMatcher.stepEffort + distance
                return effort.pointee.left < 0 ? PCRE2_ERROR_CALLOUT : 0
            }, effort)
        self.data = data
        self.context = context
    }

    deinit {
        pcre2_match_data_free_8(data)
        pcre2_match_context_free_8(context)
        effort.deallocate()
    }

    /// A new value, of so many bytes.
    func begin(bytes: Int) {
        effort.pointee.left = Self.effortMin + bytes * Self.effortPerByte
    }

    /// `text` must be well-formed UTF-8, as everything that the JSON parser read is.
    func match(_ pattern: Pattern, _ text: UnsafeRawBufferPointer) -> Pattern.Match {
        if let items = pattern.sequence { return ClassSequence.matches(items, text) ? .yes : .no }
        guard effort.pointee.left >= 0 else { return .gaveUp }
        effort.pointee.position = 0
        let result = pcre2_match_8(
            pattern.code, text.bindMemory(to: UInt8.self).baseAddress, text.count, 0, UInt32(PCRE2_NO_UTF_CHECK), data,
            context)
        // 0: it matched and the groups did not fit, which nobody asked for.
        if result >= 0 { return .yes }
        return result == PCRE2_ERROR_NOMATCH ? .no : .gaveUp
    }
}
