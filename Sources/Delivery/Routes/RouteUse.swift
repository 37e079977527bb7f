import EventLoop

/// Which routes messages were taken for of late: when all of them are held up, taking more is of no use.
///
/// Pure: it is told the time.
struct RouteUse {
    static let secondsMax = 600

    /// By the route's number.
    private var lastUsed: [MonotonicTime]
    /// Those that were ever used.
    private var routes: [Route] = []

    init(routeCount: Int) {
        lastUsed = Array(repeating: Self.never, count: routeCount)
    }

    private static let never = MonotonicTime(nanoseconds: .min)

    mutating func used(_ route: Route, _ now: MonotonicTime) {
        if lastUsed[route.number] == Self.never { routes.append(route) }
        lastUsed[route.number] = now
    }

    /// Those that messages were taken for of late.
    func inUse(at time: MonotonicTime) -> [Route] {
        routes.filter { lastUsed[$0.number] + .seconds(Self.secondsMax) > time }
    }

    /// Whether some are in use at `time`, and each of them is held up.
    func areAllHeld(by breakers: Breakers, at time: MonotonicTime) -> Bool {
        if breakers.areAllClosed { return false }
        var isAnyHeld = false
        for route in routes where lastUsed[route.number] + .seconds(Self.secondsMax) > time {
            guard breakers.isHeld(route) else { return false }
            isAnyHeld = true
        }
        return isAnyHeld
    }
}
