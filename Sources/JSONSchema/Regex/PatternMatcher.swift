private import CPCRE2

/// The memory of a validator for matching. All patterns for one value share one effort limit, so neither a long
/// string nor many short strings can block a lane. PCRE2's own limits count steps, and one step may scan a whole
/// string.
struct PatternMatcher: ~Copyable {
    private let data: OpaquePointer
    private let context: OpaquePointer
    private let effort: UnsafeMutablePointer<Effort>

    /// The effort for one value, and the state of the current PCRE2 match.
    struct Effort {
        /// The remaining effort, roughly in nanoseconds.
        var left = 0
        /// The position in the text at the last callout.
        var position = 0
        var perByte = 1
        var looksBack = false
    }

    /// The effort that each value has regardless of its size. With `effortPerByte`, a value of 1 MiB has about 7 ms.
    static let effortBase = 2_500_000
    /// The additional effort for each byte of the value.
    static let effortPerByte = 4
    /// The effort of a match without PCRE2, before its first byte.
    static let matchEffort = 8
    /// The effort of a match with PCRE2, before its first byte.
    static let backtrackingMatchEffort = 80
    /// The effort of a step of PCRE2, without the effort for the bytes that the step skips.
    static let stepEffort = 28
    /// The effort to parse an expression, in addition to `expressionEffortPerByte`.
    static let expressionEffort = 1000
    static let expressionEffortPerByte = 160
    /// Maximum number of steps of one PCRE2 match.
    static let stepsMax: UInt32 = 1_000_000
    /// Maximum heap of one PCRE2 match for backtracking points, in KiB.
    static let heapKibibytesMax: UInt32 = 16_384

    init() {
        // The calls return nil only if memory is exhausted, and Swift also ends a process without memory.
        guard let data = pcre2_match_data_create_8(1, nil), let context = pcre2_match_context_create_8(nil) else {
            fatalError("out of memory")
        }
        pcre2_set_match_limit_8(context, Self.stepsMax)
        pcre2_set_depth_limit_8(context, Self.stepsMax)
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
                effort.pointee.left -= PatternMatcher.stepEffort + distance * effort.pointee.perByte
                if effort.pointee.looksBack { effort.pointee.left -= PatternMatcher.groupBytes(block.pointee) }
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

    var effortLeft: Int { effort.pointee.left }

    /// Begins a new value of `bytes` bytes, with the usual effort divided by `share`.
    func begin(bytes: Int, share: Int = 1) {
        effort.pointee.left = (Self.effortBase + bytes * Self.effortPerByte) / share
    }

    /// Matches a text within the remaining effort.
    ///
    /// - Parameter text: well-formed UTF-8, as the JSON parser produces.
    func match(_ pattern: Pattern, _ text: UnsafeRawBufferPointer) -> Pattern.Match {
        guard effort.pointee.left >= 0 else { return .gaveUp }
        let result: (isMatch: Bool, bytes: Int)
        switch pattern.matching {
        case .sequence(let items): result = ClassSequence.match(items, text)
        case .automaton(let automaton): result = automaton.match(text)
        case .pcre2(let pattern): return match(pattern, text)
        }
        effort.pointee.left -= Self.matchEffort + result.bytes * 2
        return result.isMatch ? .yes : .no
    }

    /// Checks, within the remaining effort, whether a text is a regular expression of ECMA-262.
    func isExpression(_ text: UnsafeRawBufferPointer) -> Pattern.Match {
        effort.pointee.left -= Self.expressionEffort + text.count * Self.expressionEffortPerByte
        guard effort.pointee.left >= 0 else { return .gaveUp }
        return ECMAExpression.isExpression(text) ? .yes : .no
    }

    private func match(_ pattern: BacktrackingPattern, _ text: UnsafeRawBufferPointer) -> Pattern.Match {
        effort.pointee.left -= Self.backtrackingMatchEffort
        // PCRE2 may skip characters of one kind without a callout.
        guard text.count * pattern.byteEffort <= effort.pointee.left else { return .gaveUp }
        effort.pointee.position = 0
        effort.pointee.perByte = pattern.byteEffort
        effort.pointee.looksBack = pattern.looksBack
        let result = pcre2_match_8(
            pattern.code, text.bindMemory(to: UInt8.self).baseAddress, text.count, 0, UInt32(PCRE2_NO_UTF_CHECK), data,
            context)
        // 0 is a match whose groups did not fit into the match data. The groups are not needed.
        if result >= 0 { return .yes }
        return result == PCRE2_ERROR_NOMATCH ? .no : .gaveUp
    }

    /// Returns the number of bytes in all groups, plus one for each group. The next step may compare these bytes with
    /// the text.
    private static func groupBytes(_ block: pcre2_callout_block_8) -> Int {
        var bytes = 0
        for group in 1..<max(Int(block.capture_top), 1) {
            let (first, last) = (block.offset_vector[2 * group], block.offset_vector[2 * group + 1])
            if last > first, last <= block.subject_length { bytes += last - first }
            bytes += 1
        }
        return bytes
    }
}
