import Testing

@testable import CommandKit

@Suite struct ParsedArgumentsTests {
    private func arguments(_ value: String) -> ParsedArguments {
        var parsed = ParsedArguments(command: "launch")
        parsed.options["crew"] = value
        return parsed
    }

    @Test func numbersHaveLimits() throws {
        #expect(try arguments("7").integer("crew", upTo: 7) == 7)
        #expect(try arguments("0").integer("crew", in: 0...5) == 0)
        #expect(try arguments("7").integer("sailors", upTo: 9) == nil)
        #expect(try arguments("1,20,3").integers("crew", in: 1...20) == [1, 20, 3])
    }

    @Test(arguments: [
        ("0", "from 1 to 9"), ("10", "from 1 to 9"), ("x", "from 1 to 9"), ("", "from 1 to 9"), ("1,2", "from 1 to 9"),
    ])
    func otherNumbersAreMistakes(_ value: String, _ range: String) {
        let message = "option --crew: expected a whole number \(range), got '\(value)'"
        #expect(throws: UsageError(message)) { try arguments(value).integer("crew", upTo: 9) }
    }

    @Test func aNumberWithoutAnUpperLimit() {
        let message = "option --crew: expected a whole number above 0, got '99999999999999999999'"
        #expect(throws: UsageError(message)) { try arguments("99999999999999999999").integer("crew", upTo: .max) }
    }

    @Test(arguments: ["1,", "", "1,21", "a,1"])
    func everyNumberOfAListIsChecked(_ value: String) {
        let message = "option --crew: expected whole numbers from 1 to 20, separated by commas, got '\(value)'"
        #expect(throws: UsageError(message)) { try arguments(value).integers("crew", in: 1...20) }
    }
}
