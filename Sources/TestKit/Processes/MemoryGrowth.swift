/// The memory of a process that goes on doing the same, looked at again and again.
public struct MemoryGrowth: Sendable {
    /// One look.
    public struct Sample: Sendable {
        /// How much was done by then, in whatever is counted.
        public var done: Double
        public var megabytes: Double
    }

    /// Of what is done, the part after which nothing should be added.
    public static let earlyShare = 0.1
    /// Of what was held early, more at the end.
    public static let growthMax = 0.1

    public let whole: Double
    public private(set) var samples: [Sample] = []

    /// - Parameter whole: what is done in the end.
    public init(of whole: Double) {
        self.whole = whole
    }

    public mutating func add(done: Double, megabytes: Double) {
        samples.append(Sample(done: done, megabytes: megabytes))
    }

    public var early: Sample? { samples.first { $0.done >= whole * Self.earlyShare } }

    /// The memory at the end in terms of that which was held early; nil before there are both.
    public var factor: Double? {
        guard let early, let last = samples.last, last.done > early.done, early.megabytes > 0 else { return nil }
        return last.megabytes / early.megabytes
    }

    /// Whether the memory stayed as it should.
    public var isSteady: Bool { factor.map { $0 <= 1 + Self.growthMax } ?? false }
}
