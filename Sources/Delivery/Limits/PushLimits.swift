/// How much of one app a worker pushes; what is nil is not limited. Workers know nothing of each other.
public struct PushLimits: Sendable, Hashable {
    /// Pushes without an outcome yet.
    public var inFlightMax: Int?
    public var perSecondMax: Double?

    public init(inFlightMax: Int? = nil, perSecondMax: Double? = nil) {
        (self.inFlightMax, self.perSecondMax) = (inFlightMax, perSecondMax)
    }

    var isNone: Bool { inFlightMax == nil && perSecondMax == nil }

    /// What one lane of several has of them. The rate is split evenly, pushes in flight as far as they can be: each lane has
    /// one at least, since each takes messages.
    ///
    /// - Parameter number: counted from 0.
    func share(ofLane number: Int, among count: Int) -> PushLimits {
        PushLimits(
            inFlightMax: inFlightMax.map { max(1, $0 / count + (number < $0 % count ? 1 : 0)) },
            perSecondMax: perSecondMax.map { $0 / Double(count) })
    }
}
