/// Numbers of connections, of which the oldest is the least.
struct ConnectionNumbers {
    private var numbers: [Int] = []

    var count: Int { numbers.count }
    var oldest: Int? { numbers.first }

    /// Takes in the newest connection.
    mutating func insert(_ number: Int) {
        assert(number > numbers.last ?? 0, "connections are numbered in their order")
        numbers.append(number)
    }

    /// Takes a connection out; does nothing when it is not in.
    mutating func remove(_ number: Int) {
        var range = numbers.indices
        while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
            if numbers[middle] == number {
                numbers.remove(at: middle)
                return
            }
            range = numbers[middle] < number ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
    }
}
