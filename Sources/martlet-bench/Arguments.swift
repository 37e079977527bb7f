/// The arguments of a benchmark, read from the front.
struct Arguments {
    private var rest: ArraySlice<String>

    init(_ arguments: ArraySlice<String>) {
        rest = arguments
    }

    mutating func next() -> String? { rest.popFirst() }

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
