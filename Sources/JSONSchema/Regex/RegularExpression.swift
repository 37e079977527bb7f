/// The tree of an expression that an `Automaton` can match. The expression has no lookarounds, word boundaries,
/// backreferences or Unicode properties.
indirect enum RegularExpression {
    case set(ScalarSet)
    case start
    case end
    case sequence([RegularExpression])
    case alternatives([RegularExpression])
    /// A repeated expression. `most` is nil for an unlimited number.
    case repeated(RegularExpression, least: Int, most: Int?)

    /// An element of a valid expression.
    enum Token {
        case set(ScalarSet)
        case start
        case end
        case open
        case close
        case or
        case count(least: Int, most: Int?)
    }

    init(_ tokens: [Token]) {
        /// The alternatives of the whole expression, then of each open group. The last alternative of the last group is
        /// incomplete.
        var groups: [[[RegularExpression]]] = [[[]]]
        for token in tokens {
            switch token {
            case .set(let set): groups[groups.count - 1].append(.set(set))
            case .start: groups[groups.count - 1].append(.start)
            case .end: groups[groups.count - 1].append(.end)
            case .open: groups.append([[]])
            case .or: groups[groups.count - 1].append([])
            case .close:
                let group = groups.removeLast()
                groups[groups.count - 1].append(group.expression)
            case .count(let least, let most):
                groups[groups.count - 1].repeatLast(least: least, most: most)
            }
        }
        self = groups[0].expression
    }
}

extension [[RegularExpression]] {
    fileprivate mutating func append(_ part: RegularExpression) { self[count - 1].append(part) }

    fileprivate mutating func repeatLast(least: Int, most: Int?) {
        let last = self[count - 1].removeLast()
        append(.repeated(last, least: least, most: most))
    }

    fileprivate var expression: RegularExpression {
        count == 1 ? .sequence(self[0]) : .alternatives(map { .sequence($0) })
    }
}
