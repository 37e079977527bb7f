/// The arguments of a command, still as text.
package struct ParsedArguments: Sendable, Equatable {
    package let command: String
    /// By the option's name; a flag has the value "".
    package var options: [String: String] = [:]
    /// The values of options that may be given several times, in order.
    package var lists: [String: [String]] = [:]
    package var operands: [String] = []
    /// Why there is no default, by the names of advisory options.
    package var unreadableDefaults: [String: String] = [:]

    package init(command: String) { self.command = command }

    /// Whether the option is given.
    package func has(_ option: String) -> Bool { options[option] != nil }

    /// The value of an option that the syntax requires.
    package func required(_ option: String) -> String {
        guard let value = options[option] else { preconditionFailure("the syntax does not require --\(option)") }
        return value
    }

    /// The value of an option for which the parser accepts only the words of an enumeration.
    package func word<Word: RawRepresentable<String>>(_ option: String) -> Word? {
        options[option].flatMap { Word(rawValue: $0) }
    }

    /// - Parameter limit: the greatest number that is allowed; the least is 1.
    package func integer(_ option: String, upTo limit: Int) throws(UsageError) -> Int? {
        try integer(option, in: 1...limit)
    }

    package func integer(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            let numbers = range == 1...Int.max ? "above 0" : "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("option --\(option) takes a whole number \(numbers), not '\(text)'")
        }
        return number
    }

    /// Numbers with commas between them.
    package func integers(_ option: String, in range: ClosedRange<Int>) throws(UsageError) -> [Int]? {
        guard let text = options[option] else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }
        guard numbers.count == words.count, numbers.allSatisfy(range.contains) else {
            let limits = "from \(range.lowerBound) to \(range.upperBound)"
            throw UsageError("option --\(option) takes whole numbers \(limits) with commas between them, not '\(text)'")
        }
        return numbers
    }
}
