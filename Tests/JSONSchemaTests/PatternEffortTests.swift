import JSON
import Testing

@testable import JSONSchema

/// The limit of the matcher's effort for a value, and the expressions that must remain below it.
struct PatternEffortTests {
    @Test(arguments: [
        "^(\\w|-)+$", "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", "^([a-z]|[0-9]|-)+$",
        "^.*?c.*?d", "(a+|b|c)+d$", "[a-z]*d",
    ])
    func longTextsMatchWithoutBacktracking(_ expression: String) throws {
        let pattern = try Self.pattern(expression)
        defer { pattern.free() }
        let text = String(repeating: "abcd", count: 250_000)
        #expect(Self.match(pattern, text) == .yes)
    }

    @Test(arguments: ["^[\\p{L}\\p{N} .,'-]+$", "^\\p{Alphabetic}*$", "^(?!x)[a-é]+$"])
    func longTextsMatchInOnePass(_ expression: String) throws {
        let pattern = try Self.pattern(expression)
        defer { pattern.free() }
        #expect(Self.match(pattern, String(repeating: "é", count: 500_000)) == .yes)
    }

    /// Expressions that exceed the effort limit of a value.
    @Test(arguments: [
        "^(?=a)(a+)+$", "^(a*)\\1$", "^(.*)\\1$", "^(a)\\1*\\1*\\1*b", "^(?!.*xx)(?!.*yy)[a-z]+!$",
        "^[\(String(repeating: "\\p{Lu}", count: 12))a]*$",
    ])
    func costlyMatchesGiveUp(_ expression: String) throws {
        let pattern = try Self.pattern(expression)
        defer { pattern.free() }
        let text = String(repeating: "a", count: 500_000) + String(repeating: "c", count: 500_000)
        #expect(Self.match(pattern, text) == .gaveUp)
    }

    // At each position, a backreference may compare the group's whole content with the following text.
    @Test func backreferencesCount() throws {
        let text = String(repeating: "a", count: 3000) + "c"
        let forward = try Self.pattern("^(a*)\\b$")
        let back = try Self.pattern("^(a*)\\1$")
        defer {
            forward.free()
            back.free()
        }
        #expect(Self.effort(forward, text) < 500_000)
        #expect(Self.effort(back, text) > 2_000_000)
    }

    @Test(arguments: ["^p[0-9]+x$", "^(p|q)[0-9]+x$", "^(?=p)[0-9]+x$"])
    func everyMatchCounts(_ expression: String) throws {
        let pattern = try Self.pattern(expression)
        defer { pattern.free() }
        let matcher = PatternMatcher()
        matcher.begin(bytes: 0)
        var matches = 0
        while Self.match(pattern, "p1", matcher) == .no { matches += 1 }
        #expect((10_000..<300_000).contains(matches))
        // Each value has an effort limit of its own.
        matcher.begin(bytes: 0)
        #expect(Self.match(pattern, "p1", matcher) == .no)
    }

    @Test func manyPatternsForLongKeysGiveUp() throws {
        let patterns = (0..<1000).map { "\"^p[0-9]+x\($0)$\":true" }.joined(separator: ",")
        let validator = SchemaValidator(
            try CompiledSchema(JSONDocument(#"{"patternProperties":{\#(patterns)}}"#)))
        let keys = (0..<20).map { "\"p\(String(repeating: "1", count: 20_000))\($0)\":0" }.joined(separator: ",")
        let violation = try #require(validator.firstViolation(in: try JSONDocument("{\(keys)}").root))
        #expect(violation.message.contains("exceeds the limit for pattern matching"))
    }

    @Test func expressionsOfAValueCount() throws {
        let schema = try CompiledSchema(
            JSONDocument(#"{"items":{"format":"regex"}}"#), options: SchemaOptions(assertsFormat: true))
        let validator = SchemaValidator(schema)
        let few = [String](repeating: #""((((a{9}){9}){9}){9}b{9})""#, count: 100).joined(separator: ",")
        #expect(validator.firstViolation(in: try JSONDocument("[\(few)]").root) == nil)
        let many = [String](repeating: few, count: 300).joined(separator: ",")
        let violation = try #require(validator.firstViolation(in: try JSONDocument("[\(many)]").root))
        #expect(violation.keyword == "format")
        #expect(violation.message.contains("exceeds the limit for pattern matching"))
    }

    /// The work for building automata is limited. PCRE2 matches the expressions beyond the limit.
    @Test func automataAreLimited() throws {
        var work = Automaton.workMax
        let large = try Self.pattern("(a|b)*a(a|b){20}", work: &work)
        defer { large.free() }
        guard case .pcre2 = large.matching else { return #expect(Bool(false), "\(large.matching)") }
        #expect(Automaton.workMax - work <= Automaton.ownWorkMax * 2)
        work = 0
        let late = try Self.pattern("^(a|b)*$", work: &work)
        defer { late.free() }
        guard case .pcre2 = late.matching else { return #expect(Bool(false), "\(late.matching)") }
        #expect(Self.match(large, "abba" + String(repeating: "b", count: 20)) == .yes)
        #expect(Self.match(late, "abbac") == .no)
    }

    private static func pattern(_ expression: String) throws -> Pattern {
        var work = Automaton.workMax
        return try pattern(expression, work: &work)
    }

    private static func pattern(_ expression: String, work: inout Int) throws -> Pattern {
        try Array(expression.utf8).withUnsafeBytes { try Pattern($0, work: &work) }
    }

    /// Matches a text with the effort limit of a value that consists only of this text.
    private static func match(_ pattern: Pattern, _ text: String) -> Pattern.Match {
        let matcher = PatternMatcher()
        matcher.begin(bytes: text.utf8.count)
        return match(pattern, text, matcher)
    }

    private static func match(_ pattern: Pattern, _ text: String, _ matcher: borrowing PatternMatcher) -> Pattern.Match
    {
        Array(text.utf8).withUnsafeBytes { matcher.match(pattern, $0) }
    }

    private static func effort(_ pattern: Pattern, _ text: String) -> Int {
        let matcher = PatternMatcher()
        matcher.begin(bytes: 0)
        let before = matcher.effortLeft
        _ = match(pattern, text, matcher)
        return before - matcher.effortLeft
    }
}
