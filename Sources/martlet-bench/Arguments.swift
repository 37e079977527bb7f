/// The arguments of a benchmark, read from the front.
struct Arguments {
    /// Those that are still to be read.
    private(set) var rest: ArraySlice<String>

    init(_ arguments: ArraySlice<String>) {
        rest = arguments
    }

    mutating func next() -> String? { rest.popFirst() }

    /// The text behind the option `name`.
    mutating func text(for name: String) throws(UsageError) -> String {
        guard let text = rest.popFirst() else { throw UsageError(message: "\(name) wants a value") }
        return text
    }

    /// The port behind the option `name`.
    mutating func port(for name: String) throws(UsageError) -> UInt16 {
        UInt16(try number(for: name, in: 1...Int(UInt16.max)))
    }

    /// The numbers, with commas between them, behind the option `name`.
    mutating func numbers(for name: String, in range: ClosedRange<Int>) throws(UsageError) -> [Int] {
        let words = try text(for: name).split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }
        guard numbers.count == words.count, numbers.allSatisfy(range.contains) else {
            throw UsageError(message: "\(name) wants numbers from \(range.lowerBound) to \(range.upperBound): 500,1000")
        }
        return numbers
    }

    /// The number behind the option `name`.
    mutating func number(for name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = rest.popFirst().flatMap({ Int($0) }), range.contains(number) else {
            throw UsageError(message: "\(name) wants a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}

struct UsageError: Error {
    let message: String
}
