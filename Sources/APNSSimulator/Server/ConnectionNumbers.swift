/// A set of connection numbers. The oldest connection has the smallest number.
struct ConnectionNumbers {
    private var numbers: [Int] = []

    var count: Int { numbers.count }
    var oldest: Int? { numbers.first }

    /// Inserts the newest connection.
    mutating func insert(_ number: Int) {
        assert(number > numbers.last ?? 0, "connection numbers must increase")
        numbers.append(number)
    }

    /// Removes a connection. Does nothing if the set does not contain the connection.
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
