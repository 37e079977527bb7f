/// A regular expression as a table of the next state for each state and byte. A match takes one step per byte, so it
/// needs no limit on steps. Release the memory with `free()`.
///
/// The table begins with the class of each byte, followed by a row for each state. An entry of a row is the offset of
/// the next state's row. The first row is the state without a possible match. The second row is the state after a
/// match.
struct Automaton: BitwiseCopyable {
    private let table: UnsafeMutablePointer<UInt16>
    private let start: Int
    /// The number of byte classes. The expression does not distinguish bytes of one class. The last class is the end of
    /// the text.
    private let classCount: Int

    /// Maximum number of entries in all rows. An entry has two bytes.
    static let entriesMax = 32_768
    /// Maximum number of steps, of about 10 ns each, to build the automata of a schema's expressions. PCRE2 matches the
    /// remaining expressions.
    static let workMax = 5_000_000
    /// Maximum number of steps to build the automaton of one expression.
    static let ownWorkMax = 500_000

    /// Builds the table, and subtracts the steps from `work`. Returns nil if the expression has too many states, or
    /// needs more steps than `ownWorkMax` or the remaining `work`.
    init?(_ expression: RegularExpression, work: inout Int) {
        let ownWork = min(work, Self.ownWorkMax)
        var workLeft = ownWork
        defer { work -= ownWork - workLeft }
        guard let states = StateGraph(expression, work: &workLeft) else { return nil }
        var builder = AutomatonBuilder(states, work: workLeft)
        defer { workLeft = builder.work }
        guard let start = builder.build() else { return nil }
        self.start = start
        classCount = builder.classCount
        table = .allocate(capacity: 256 + builder.rows.count)
        for byte in 0..<256 { (table + byte).initialize(to: UInt16(builder.classes[byte])) }
        for (place, row) in builder.rows.enumerated() { (table + 256 + place).initialize(to: row) }
    }

    func free() { table.deallocate() }

    /// Returns whether the text matches, and how many bytes were read. `text` must be well-formed UTF-8.
    func match(_ text: UnsafeRawBufferPointer) -> (isMatch: Bool, bytes: Int) {
        let rows = table + 256
        let accepting = classCount
        var row = start
        for place in 0..<text.count {
            guard row > accepting else { return (row == accepting, place) }
            row = Int(rows[row + Int(table[Int(text[place])])])
        }
        if row > accepting { row = Int(rows[row + classCount - 1]) }
        return (row == accepting, text.count)
    }
}

/// The construction of the table. Each set of simultaneous states becomes one state.
private struct AutomatonBuilder {
    private let graph: StateGraph
    private(set) var work: Int
    private(set) var classes = [Int](repeating: 0, count: 256)
    private(set) var classCount = 0
    private(set) var rows: [UInt16] = []
    /// One byte of each class, except the class for the end of the text.
    private var samples: [UInt8] = []
    /// The state sets and offsets of rows that are not filled yet.
    private var unfilled: [(states: [Int32], row: Int)] = []
    private var known: [[Int32]: Int] = [:]
    private var isSeen: [Bool]

    init(_ graph: StateGraph, work: Int) {
        self.graph = graph
        self.work = work
        isSeen = [Bool](repeating: false, count: graph.states.count)
    }

    /// Builds the rows. Returns the offset of the start row; nil if a limit is exceeded.
    mutating func build() -> Int? {
        findClasses()
        // The rows for no match and for a match, which are final.
        rows = [UInt16](repeating: 0, count: classCount) + [UInt16](repeating: UInt16(classCount), count: classCount)
        let first = closure([graph.first], isStart: true, isEnd: false)
        guard let start = first.map({ row(of: $0) }) else { return classCount }
        guard let start else { return nil }
        // `^` matches only at the start of a text. Later positions with the same states therefore need another row.
        if start > classCount {
            known.removeAll()
            let isEmptyMatch = closure([graph.first], isStart: true, isEnd: true) == nil
            rows[start + classCount - 1] = isEmptyMatch ? UInt16(classCount) : 0
        }
        while let (states, place) = unfilled.popLast() {
            for (number, sample) in samples.enumerated() {
                guard work > 0, let next = row(after: sample, states) else { return nil }
                rows[place + number] = UInt16(next)
            }
            guard place != start else { continue }
            rows[place + classCount - 1] =
                closure(states, isStart: false, isEnd: true) == nil ? UInt16(classCount) : 0
        }
        return start
    }

    private mutating func row(after byte: UInt8, _ states: [Int32]) -> Int? {
        var next: [Int32] = []
        for state in states {
            if case .bytes(let range, let after) = graph.states[Int(state)], range.contains(byte) { next.append(after) }
        }
        work -= states.count
        // A match may also begin at this position.
        next.append(graph.first)
        guard let after = closure(next, isStart: false, isEnd: false) else { return classCount }
        return row(of: after)
    }

    /// Returns the row of a state set, and adds the row if necessary; nil if a limit is exceeded.
    private mutating func row(of states: [Int32]) -> Int? {
        if states.isEmpty { return 0 }
        if let row = known[states] { return row }
        let row = rows.count
        guard row + classCount <= Automaton.entriesMax, work > 0 else { return nil }
        rows += [UInt16](repeating: 0, count: classCount)
        known[states] = row
        unfilled.append((states, row))
        return row
    }

    /// Returns all states that are reachable without a byte and that wait for a byte or the end of the text. Returns
    /// nil if the match is complete.
    private mutating func closure(_ first: [Int32], isStart: Bool, isEnd: Bool) -> [Int32]? {
        var found: [Int32] = []
        var stack = first
        var seen: [Int32] = []
        var isMatch = false
        while let state = stack.popLast() {
            guard !isSeen[Int(state)] else { continue }
            isSeen[Int(state)] = true
            seen.append(state)
            switch graph.states[Int(state)] {
            case .bytes: found.append(state)
            case .split(let one, let other):
                stack.append(one)
                stack.append(other)
            case .start(let next): if isStart { stack.append(next) }
            case .end(let next):
                found.append(state)
                if isEnd { stack.append(next) }
            case .match: isMatch = true
            }
        }
        work -= seen.count
        for state in seen { isSeen[Int(state)] = false }
        guard !isMatch else { return nil }
        found.sort()
        return found
    }

    private mutating func findClasses() {
        var begins = [Bool](repeating: false, count: 257)
        for case .bytes(let range, _) in graph.states {
            begins[Int(range.lowerBound)] = true
            begins[Int(range.upperBound) + 1] = true
        }
        begins[0] = true
        for byte in 0..<256 {
            if begins[byte] { samples.append(UInt8(byte)) }
            classes[byte] = samples.count - 1
        }
        classCount = samples.count + 1
    }
}
