/// The arguments of a command, still as text.
package struct ParsedArguments: Sendable, Equatable {
    package let command: String
    /// Values by option name. A flag has the value "".
    package var options: [String: String] = [:]
    /// Values of repeatable options, in order.
    package var lists: [String: [String]] = [:]
    package var operands: [String] = []
    /// The reasons for unreadable defaults, by names of advisory options.
    package var unreadableDefaults: [String: String] = [:]

    package init(command: String) { self.command = command }

    /// Returns whether the option is given or has a readable default. Ignores the options in `lists`.
    package func has(_ option: String) -> Bool { options[option] != nil }

    /// Returns the value of an option that the syntax requires.
    package func required(_ option: String) -> String {
        guard let value = options[option] else { preconditionFailure("the syntax does not require --\(option)") }
        return value
    }

    /// Returns the value of an option whose values are the words of an enumeration; nil without the option.
    package func word<Word: RawRepresentable<String>>(_ option: String) -> Word? {
        options[option].flatMap { Word(rawValue: $0) }
    }

    /// Returns the integer value of an option; nil without the option.
    ///
    /// - Parameter limit: maximum. The minimum is 1.
    package func integer(_ option: String, upTo limit: Int) throws(UsageError) -> Int? {
        try integer(option, in: 1...limit)
    }

    package func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let numbers = range == 1...Int.max ? "above 0" : "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("option --\(option): expected a whole number \(numbers), got '\(text)'")
        }
        return number
    }

    /// Returns the comma-separated integers of an option; nil without the option.
    package func integers(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> [Int]? {
        guard let text = options[option] else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }
        guard numbers.count == words.count, numbers.allSatisfy(range.contains) else {
            let limits = "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("option --\(option): expected whole numbers \(limits), separated by commas, got '\(text)'")
        }
        return numbers
    }
}
