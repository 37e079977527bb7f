/// The limits of one app's pushes in a worker. A limit of nil means unlimited. Workers do not coordinate their limits.
public struct PushLimits: Sendable, Hashable {
    /// The maximum number of pushes in flight.
    public var inFlightMax: Int?
    /// The maximum rate, in pushes per second.
    public var perSecondMax: Double?

    public init(inFlightMax: Int? = nil, perSecondMax: Double? = nil) {
        (self.inFlightMax, self.perSecondMax) = (inFlightMax, perSecondMax)
    }

    var isNone: Bool { inFlightMax == nil && perSecondMax == nil }

    /// Returns the share of one lane. The rate and the pushes in flight are divided evenly. Each lane may have at least
    /// one push in flight, since each lane consumes requests.
    ///
    /// - Parameter number: The index of the lane.
    func share(ofLane number: Int, among count: Int) -> PushLimits {
        PushLimits(
            inFlightMax: inFlightMax.map { max(1, $0 / count + (number < $0 % count ? 1 : 0)) },
            perSecondMax: perSecondMax.map { $0 / Double(count) })
    }
}
