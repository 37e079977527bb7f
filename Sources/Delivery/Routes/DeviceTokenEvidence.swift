import EventLoop

/// What speaks for a mistake beyond the message where APNs does not know a device token: so many on one route, and none
/// between them that it knows or did. Of a list that is merely old some are gone, and some are good.
///
/// APNs ends connections over these sooner than over other errors (Apple, "Communicating with APNs").
struct DeviceTokenEvidence: Sendable, Hashable {
    static let inARowMin = 50
    static let withinSeconds: Int64 = 60

    private struct Run: Sendable, Hashable {
        let route: Route
        let since: MonotonicTime
        var count = 0
    }

    /// At most one for each route.
    private var runs: [Run] = []

    var isEmpty: Bool { runs.isEmpty }

    /// APNs did not know a device token. Returns whether it suffices.
    mutating func add(_ route: Route, _ now: MonotonicTime) -> Bool {
        runs.removeAll { $0.since + .seconds(Self.withinSeconds) <= now }
        let index = runs.firstIndex { $0.route == route } ?? runs.endIndex
        if index == runs.endIndex { runs.append(Run(route: route, since: now)) }
        runs[index].count += 1
        return runs[index].count >= Self.inARowMin
    }

    mutating func clear(_ route: Route) { runs.removeAll { $0.route == route } }
}
