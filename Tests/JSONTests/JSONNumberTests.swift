import Testing

@testable import JSON

struct JSONNumberTests {
    @Test(arguments: [
        ("-1e400", "-1e399"), ("-2", "-1"), ("-1", "-0.5"), ("-1e-400", "0"), ("0", "1e-400"), ("0.05", "0.1"),
        ("0.1", "0.10000000000000000001"), ("0.9", "1"), ("1", "1.0000000000000000000000001"), ("1.5", "2"),
        ("9", "10"), ("99", "100.5"), ("9007199254740992", "9007199254740993"), ("1e400", "1.1e400"),
        ("1e999999999", "1e1000000000"), ("1e100000000000000000000", "1e200000000000000000000"),
        ("1e99999999999999999999", "1e100000000000000000000"), ("9e99999999999999999999", "1e100000000000000000000"),
        ("0.01e100000000000000000001", "1e100000000000000000000"),
        ("-1e20000000000000000000", "-1e10000000000000000000"),
        ("1e-200000000000000000000", "1e-100000000000000000000"), ("0", "1e-100000000000000000000"),
        ("1e-100000000000000000000", "1e100000000000000000000"), ("1e999999999", "1e100000000000000000000"),
        ("1e1152921504606846974", "0.01e1152921504606846977"), ("1e1152921504606846975", "2e1152921504606846975"),
    ])
    func order(_ smaller: String, _ larger: String) throws {
        try compare(smaller, larger) { left, right in
            #expect(left < right)
            #expect(!(right < left))
            #expect(left != right)
        }
    }

    @Test(arguments: [
        ("0", "-0.00e5"), ("1", "1.0"), ("100", "1e2"), ("0.1", "1e-1"), ("12.5", "125e-1"), ("-10", "-1.0E+1"),
        ("0.0010", "1e-3"), ("1000000000000000000000", "1e21"), ("10.50", "105e-1"),
        ("1e100000000000000000000", "10e99999999999999999999"), ("1e99999999999999999999", "0.1e100000000000000000000"),
        ("0.001e100000000000000000002", "1e99999999999999999999"), ("1e00000000000000000000003", "1000"),
        ("1e-100000000000000000000", "0.1e-99999999999999999999"),
        ("-1e+20000000000000000000", "-1e20000000000000000000"),
        ("10e1152921504606846975", "1e1152921504606846976"), ("0.001e1152921504606846978", "1e1152921504606846975"),
    ])
    func equality(_ one: String, _ other: String) throws {
        try compare(one, other) { left, right in
            #expect(left == right)
            #expect(!(left < right) && !(right < left))
            #expect(hash(left) == hash(right))
        }
    }

    @Test(arguments: [
        ("0", "3", true), ("9", "3", true), ("10", "3", false), ("-9", "3", true), ("4.5", "1.5", true),
        ("4.6", "1.5", false), ("0.0075", "0.0001", true), ("0.00751", "0.0001", false),
        ("1e308", "0.123456789", false),
        ("1e999999999", "3", false), ("3e999999999", "3", true), ("1e999999999", "7", false),
        ("1e-999999999", "1", false),
        ("9007199254740993", "2", false), ("99999999999999999999999", "3", true), ("1", "0", false),
        ("123456789012345678", "999999999999999999", false), ("999999999999999999e5", "999999999999999999", true),
        ("1e100000000000000000000", "1e200000000000000000000", false),
        ("1e200000000000000000000", "1e100000000000000000000", true),
        ("3e100000000000000000001", "2e100000000000000000000", true),
        ("3e100000000000000000000", "2e100000000000000000000", false),
        ("1e100000000000000000000", "1e-100000000000000000000", true), ("1e-100000000000000000000", "1", false),
        ("19.99", "0.01", true), ("1.1", "0.1", true), ("0.3", "0.1", true),
    ])
    func multiples(_ value: String, _ divisor: String, _ isMultiple: Bool) throws {
        try compare(value, divisor) { left, right in
            #expect(left.isMultiple(of: right) == isMultiple)
        }
    }

    @Test func hashesDifferWithExponents() throws {
        let document = try JSONDocument("[\((0..<1000).map { "1e10000000000000000000\($0)" }.joined(separator: ","))]")
        withExtendedLifetime(document) {
            #expect(Set(document.root.elements.compactMap(\.number).map(hash)).count == 1000)
        }
    }

    private func hash(_ number: JSONNumber) -> Int {
        var hasher = Hasher()
        number.hash(into: &hasher)
        return hasher.finalize()
    }

    private func compare(_ left: String, _ right: String, _ body: (JSONNumber, JSONNumber) -> Void) throws {
        let document = try JSONDocument("[\(left),\(right)]")
        let numbers = document.root.elements.compactMap(\.number)
        try withExtendedLifetime(document) { body(try #require(numbers.first), try #require(numbers.last)) }
    }
}
