/// A filter expression for dead letters: `class == "apns" && code != "BadTopic" && age < 2h`.
///
/// ```
/// filter     = all ("||" all)*
/// all        = condition ("&&" condition)*
/// condition  = "!" condition | "(" filter ")" | field [comparison]
/// comparison = ("==" | "!=" | "<" | "<=" | ">" | ">=") value | ("contains" | "startsWith") text
///            | "in" "[" value ("," value)* "]"
/// field      = name | "body" step* | "header" "[" text "]"
/// step       = "." name | "[" (text | number) "]"
/// value      = text | number | duration | "true" | "false" | "null"
/// ```
///
/// A missing value equals only `null`. An ordering comparison is false unless both values are numbers, durations or
/// strings, and have the same type. A `body` or `header` field without a comparison is true if its value is `true`.
/// Other fields need a comparison.
package indirect enum Filter: Equatable, Sendable {
    case any([Filter])
    case all([Filter])
    case not(Filter)
    case compare(FilterField, Comparison, FilterValue)
    case isIn(FilterField, [FilterValue])

    package enum Comparison: String, Sendable {
        case equal = "=="
        case unequal = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case contains
        case startsWith
    }

    /// Parses a filter.
    ///
    /// - Throws: the mistake and its position.
    package init(_ text: String) throws(FilterError) {
        var parser = FilterParser(try FilterLexer.tokens(of: text))
        self = try parser.filter()
    }

    /// Returns whether a dead letter matches.
    ///
    /// - Parameter value: returns the value of a field.
    package func matches(_ value: (FilterField) -> FilterValue) -> Bool {
        switch self {
        case .any(let filters): filters.contains { $0.matches(value) }
        case .all(let filters): filters.allSatisfy { $0.matches(value) }
        case .not(let filter): !filter.matches(value)
        case .compare(let field, let comparison, let other): comparison.holds(value(field), other)
        case .isIn(let field, let others): others.contains(value(field))
        }
    }
}

extension Filter.Comparison {
    fileprivate func holds(_ value: FilterValue, _ other: FilterValue) -> Bool {
        switch self {
        case .equal: return value == other
        case .unequal: return value != other
        case .less:
            return ordered(value, other) {
                $0 < $1
            } textually: {
                $0 < $1
            }
        case .lessOrEqual:
            return ordered(value, other) {
                $0 <= $1
            } textually: {
                $0 <= $1
            }
        case .greater:
            return ordered(value, other) {
                $0 > $1
            } textually: {
                $0 > $1
            }
        case .greaterOrEqual:
            return ordered(value, other) {
                $0 >= $1
            } textually: {
                $0 >= $1
            }
        case .contains:
            guard case .text(let text) = value, case .text(let part) = other else { return false }
            return part.isEmpty || text.contains(part)
        case .startsWith:
            guard case .text(let text) = value, case .text(let start) = other else { return false }
            return text.hasPrefix(start)
        }
    }

    private func ordered(
        _ value: FilterValue, _ other: FilterValue, _ numbers: (Double, Double) -> Bool,
        textually: (String, String) -> Bool
    ) -> Bool {
        switch (value, other) {
        case (.number(let value), .number(let other)), (.milliseconds(let value), .milliseconds(let other)):
            numbers(value, other)
        case (.text(let value), .text(let other)): textually(value, other)
        case (.text, _), (.number, _), (.milliseconds, _), (.boolean, _), (.missing, _), (.other, _): false
        }
    }
}
