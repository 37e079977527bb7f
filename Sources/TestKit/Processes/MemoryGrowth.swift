/// Memory samples of a process under constant load.
public struct MemoryGrowth: Sendable {
    /// One sample.
    public struct Sample: Sendable {
        /// The work completed so far, in the unit of `whole`.
        public var done: Double
        public var megabytes: Double
    }

    /// The share of the work after which the growth of the memory is limited.
    public static let earlyShare = 0.1
    /// The allowed growth of the final memory over the early memory, as a fraction.
    public static let growthMax = 0.1

    /// The total work.
    public let whole: Double
    public private(set) var samples: [Sample] = []

    /// Creates an empty series of samples.
    ///
    /// - Parameter whole: The total work.
    public init(of whole: Double) {
        self.whole = whole
    }

    public mutating func add(done: Double, megabytes: Double) {
        samples.append(Sample(done: done, megabytes: megabytes))
    }

    /// The first sample after the early share of the work; nil until that sample exists.
    public var early: Sample? { samples.first { $0.done >= whole * Self.earlyShare } }

    /// The ratio of the last to the early memory; nil until both samples exist.
    public var factor: Double? {
        guard let early, let last = samples.last, last.done > early.done, early.megabytes > 0 else { return nil }
        return last.megabytes / early.megabytes
    }

    /// Whether the memory growth is within the limit; false while the growth is unknown.
    public var isSteady: Bool { factor.map { $0 <= 1 + Self.growthMax } ?? false }
}
