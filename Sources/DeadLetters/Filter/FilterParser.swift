import Text

/// A recursive-descent parser of filters.
struct FilterParser {
    /// Maximum nesting depth of conditions. Each negation, pair of parentheses and comparison is one level.
    static let depthMax = 64

    private let tokens: [FilterToken]
    private var place = 0
    private var depth = 0

    /// Creates a parser.
    ///
    /// - Parameter tokens: the tokens of a filter. The last token must be `end`.
    init(_ tokens: [FilterToken]) { self.tokens = tokens }

    /// Parses the complete filter.
    mutating func filter() throws(FilterError) -> Filter {
        if token.kind == .end { throw FilterError(offset: token.offset, message: "the filter is empty") }
        let filter = try any()
        guard token.kind == .end else { throw unexpected("&&, || or the end of the filter") }
        return filter
    }

    private var token: FilterToken { tokens[place] }

    private mutating func advance() {
        if place < tokens.count - 1 { place += 1 }
    }

    private mutating func consume(_ symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    private mutating func expect(_ symbol: String) throws(FilterError) {
        if !consume(symbol) { throw unexpected("'\(symbol)'") }
    }

    private func unexpected(_ expected: String) -> FilterError {
        FilterError(offset: token.offset, message: "expected \(expected), found \(token.shown)")
    }

    private mutating func any() throws(FilterError) -> Filter {
        var filters = [try all()]
        while consume("||") { filters.append(try all()) }
        return filters.count == 1 ? filters[0] : .any(filters)
    }

    private mutating func all() throws(FilterError) -> Filter {
        var filters = [try condition()]
        while consume("&&") { filters.append(try condition()) }
        return filters.count == 1 ? filters[0] : .all(filters)
    }

    private mutating func condition() throws(FilterError) -> Filter {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else {
            throw FilterError(offset: token.offset, message: "conditions nested deeper than \(Self.depthMax) levels")
        }
        if consume("!") { return .not(try condition()) }
        if consume("(") {
            let filter = try any()
            try expect(")")
            return filter
        }
        return try comparison(of: try field())
    }

    private mutating func field() throws(FilterError) -> FilterField {
        guard case .name(let name) = token.kind else { throw unexpected("a field, such as class or code") }
        let offset = token.offset
        advance()
        switch name {
        case "body":
            return .body(try steps())
        case "header":
            try expect("[")
            guard case .text(let header) = token.kind else { throw unexpected("a header name in quotes") }
            advance()
            try expect("]")
            return .header(header)
        default:
            guard let known = FilterField.Known(rawValue: name) else { throw FilterField.unknown(name, at: offset) }
            return .known(known)
        }
    }

    private mutating func steps() throws(FilterError) -> [FilterField.Step] {
        var steps: [FilterField.Step] = []
        while true {
            if consume(".") {
                guard case .name(let name) = token.kind else { throw unexpected("a member name") }
                steps.append(.name(name))
                advance()
            } else if consume("[") {
                switch token.kind {
                case .text(let name): steps.append(.name(name))
                case .number(let number):
                    guard let index = Int(exactly: number), index >= 0 else {
                        throw unexpected("an index of 0 or more")
                    }
                    steps.append(.index(index))
                case .name, .duration, .symbol, .end: throw unexpected("a name in quotes or an index")
                }
                advance()
                try expect("]")
            } else {
                return steps
            }
        }
    }

    private mutating func comparison(of field: FilterField) throws(FilterError) -> Filter {
        switch token.kind {
        case .symbol(let symbol):
            guard let comparison = Filter.Comparison(rawValue: symbol) else { break }
            advance()
            return .compare(field, comparison, try value(for: field))
        case .name("contains"), .name("startsWith"):
            let offset = token.offset
            guard field.kind == nil || field.kind == .text else {
                throw FilterError(offset: offset, message: "the operator requires a string field")
            }
            let comparison: Filter.Comparison = token.kind == .name("contains") ? .contains : .startsWith
            advance()
            guard case .text(let text) = token.kind else { throw unexpected("a string in quotes") }
            advance()
            return .compare(field, comparison, .text(text))
        case .name("in"):
            advance()
            try expect("[")
            var values = [try value(for: field)]
            while consume(",") { values.append(try value(for: field)) }
            try expect("]")
            return .isIn(field, values)
        case .name, .text, .number, .duration, .end: break
        }
        guard field.kind == nil else { throw unexpected("==, !=, <, <=, >, >=, contains, startsWith or in") }
        return .compare(field, .equal, .boolean(true))
    }

    private mutating func value(for field: FilterField) throws(FilterError) -> FilterValue {
        let (value, kind): (FilterValue, FilterField.Kind?)
        switch token.kind {
        case .text(let text): (value, kind) = (.text(text), .text)
        case .number(let number): (value, kind) = (.number(number), .number)
        case .duration(let milliseconds): (value, kind) = (.milliseconds(milliseconds), .duration)
        case .name("true"): (value, kind) = (.boolean(true), nil)
        case .name("false"): (value, kind) = (.boolean(false), nil)
        case .name("null"): (value, kind) = (.missing, nil)
        case .name(let name):
            throw FilterError(
                offset: token.offset, message: "a string must be in quotes: \"\(name.shortened(to: 40))\"")
        case .symbol, .end: throw unexpected("a value")
        }
        if let wanted = field.kind, value != .missing, kind != wanted {
            throw FilterError(offset: token.offset, message: "the field must be compared with \(wanted.noun)")
        }
        if field.kind == nil, kind == .duration {
            throw FilterError(offset: token.offset, message: "only age can be compared with a duration")
        }
        advance()
        return value
    }
}
