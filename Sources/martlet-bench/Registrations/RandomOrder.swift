/// The numbers below a count in an order without locality, the same in each run.
struct RandomOrder: Sequence, IteratorProtocol {
    /// A prime above every count, so that the order contains each number once.
    private static let stride = 2_147_483_647

    private let count: Int
    private var index = 0

    init(_ count: Int) {
        self.count = count
    }

    mutating func next() -> Int? {
        guard index < count else { return nil }
        defer { index += 1 }
        return index * (Self.stride % count) % count
    }
}
