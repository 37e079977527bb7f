import JSON
import Testing

@testable import JSONSchema

/// The matching of expressions without PCRE2. Each verdict must be the same as with PCRE2.
struct PatternTests {
    static let simple = [
        "^$", "^a$", "^a*$", "^a+$", "^a?$", "^ab$", "^a?b$", "^a*b+c$", "^a{2}$", "^a{0,2}$", "^a{2,}b$",
        "^[a-c]{1,2}$",
        "^[A-Za-z0-9.-]+$", "^[a-]b*$", "^[^a]+$", "^[^ab]{2}$", "^[^\\u0000-\\u0020\\u007f]+$", "^(a{2})+$",
        "^(?:[ab]{2})*$",
        "^([0-9A-Fa-f]{2})+$", "^(a{2})+b$", "^(a{3}){2,}b$", "^\\d+\\.\\d{2}$", "^[\\d\\-\\]]+$", "^\\u0061$",
        "^[]$", "^[^]$", "^[ -~]+$", "^\\/a$", "^[a\\\\]+$",
    ]

    @Test(arguments: [
        "^[A-Za-z0-9.-]+$", "^([0-9A-Fa-f]{2})+$", "^[A-Za-z0-9+/]+={0,2}$", "^[0-9a-f]{8}-[0-9a-f]{4}$",
        "^[^\\u0000-\\u001f\\u007f]+$", "^\\d+\\.\\d{2}$", "^(?:[ab]{2})*$",
    ])
    func simpleExpressions(_ expression: String) {
        #expect(Self.isSimple(expression))
    }

    /// Expressions that ECMA-262 or PCRE2 rejects.
    @Test(arguments: [
        "\\p{L", "\\p{", "\\p{Script=greek}", "\\p{Script=L_a_t_i_n}", "\\p{sc=Greek }", "\\p{Script=Nonsense}",
        "^(?:ab){0,70000}$", "^(?:ab){70000}$",
    ])
    func refused(_ expression: String) {
        #expect(throws: SchemaError.self) { try validator(expression) }
    }

    @Test(arguments: [
        ("^\\p{Script=Greek}$", "α"), ("^\\p{sc=Grek}\\p{scx=Latn}$", "αa"), ("^(?<\\u0061>x)\\k<a>$", "xx"),
        ("^(?<\\u{61}b>x)\\k<a\\u0062>$", "xx"), ("^(?<é>x)(?<e\u{301}>y)\\k<e\u{301}>$", "xyy"),
        ("^[\\W\\D]+$", "a-"), ("^[^\\W\\d]+$", "ab"), ("^[\\P{L}b]+$", "1b"), ("^[^\\P{L}b]+$", "ac"),
    ])
    func accepted(_ expression: String, _ text: String) throws {
        var json = JSONWriter()
        json.string(text)
        #expect(try validator(expression).firstViolation(in: try JSONDocument(json.bytes).root) == nil)
    }

    @Test(arguments: [
        "a", "^a", "a$", "^a|b$", "^a.b$", "^(ab)+$", "^a+?$", "^a++$", "^a*a$", "^[ab]?b$", "^a*b?a$", "^(a+)+$",
        "^\\w+$",
        "^\\bx$", "^[[:alpha:]]$", "^é$", "^[é]$", "^\\p{L}$", "^a{2}{3}$", "^(?=a)$", "^(a{2}){2}$", "^[a-\\d]$",
        "^a$b$", "^^a$",
    ])
    func otherExpressionsUsePCRE2(_ expression: String) {
        #expect(!Self.isSimple(expression))
    }

    /// Expressions that an automaton can match.
    static let regular = [
        "", "a", "^", "$", "^$", "$^", "a|b", "a||b", "^a|b$", "(^|b)a", "a($|b)", "a.b", "(ab)+", "(?:ab)*c", "a+?b",
        "^(a|b)*a(a|b){2}$", "(a*)*b", "^(a+)+$", "((a?)+)*c$", "^(a{2}){2}$", "^(?:a{2,3}|b){1,2}$", "[^a]$",
        "^[^aé]*$", "^\\w+$", "^(\\w|-)+$", "\\s\\S", "[\\s\\S]", "[^\\s\\S]", "^[é-😀]+$", "^(é|😀)+$", "^.$",
        "^[^]{2}$",
        "[]|b", "^(?:[ab]{4})*(?:[ab]{2}c|[ab]{3}c)?$", "^(a|ab)(c|bc)?$", "\\ud83d\\ude00", "\\ud83d",
        "[\\ud000-\\ue000]",
        "^(?:a|b|^c)+$", "a{0}b", "^(|a)+$", "^(?<x>a)b", "(a$)|b", "^a*?$", "x*",
    ]

    @Test(arguments: regular)
    func automata(_ expression: String) throws {
        let pattern = try Array(expression.utf8).withUnsafeBytes { bytes in
            var work = Automaton.workMax
            return try Pattern(bytes, work: &work)
        }
        defer { pattern.free() }
        guard case .pcre2 = pattern.matching else { return }
        Issue.record("PCRE2 matches this pattern")
    }

    @Test(arguments: simple + regular)
    func sameAsPCRE2(_ expression: String) throws {
        var generator = SplitMix(state: 4711)
        let characters: [Unicode.Scalar] = [
            "a", "b", "c", "A", "0", "9", "-", ".", " ", "\n", "é", "😀", "\\", "]", "\u{7F}", "f", "/",
        ]
        let quick = try validator(expression)
        // Automata support no lookahead.
        let slow = try validator("(?=)(?:\(expression))")
        for _ in 0..<2000 {
            let length = Int(generator.next() % 7)
            let few = characters.shuffled(using: &generator).prefix(2)
            let text = String(
                String.UnicodeScalarView((0..<length).compactMap { _ in few.randomElement(using: &generator) }))
            var json = JSONWriter()
            json.string(text)
            let document = try JSONDocument(json.bytes)
            let verdicts = (
                quick.firstViolation(in: document.root) == nil, slow.firstViolation(in: document.root) == nil
            )
            #expect(verdicts.0 == verdicts.1, "\(expression) \(json.bytes)")
        }
    }

    private func validator(_ expression: String) throws -> SchemaValidator {
        var json = JSONWriter()
        json.beginObject()
        json.member("pattern", expression)
        json.endObject()
        return SchemaValidator(try CompiledSchema(JSONDocument(json.bytes)))
    }

    private static func isSimple(_ expression: String) -> Bool {
        Array(expression.utf8).withUnsafeBytes { ClassSequence.items($0) != nil }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}
