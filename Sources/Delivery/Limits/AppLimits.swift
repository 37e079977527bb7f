import EventLoop

/// The limits of all apps of a lane.
///
/// Pure. Its methods have the time and the events as parameters.
struct AppLimits {
    /// The divisor of the smallest prefetch for one app. The quotient is the maximum number of the app's requests that
    /// wait in the lane. `waitingPart` is the divisor for all apps together. The rest of the prefetch remains for other
    /// requests.
    static let waitingPartOfAnApp = 8
    static let waitingPart = 2

    enum Change: Hashable {
        case began(AppDirectory.Index)
        case ended(AppDirectory.Index, after: Duration)
    }

    /// The limits of each app; nil for an app without limits. Empty if no app has limits.
    private var apps: [AppLimit?] = []
    private let waitingMax: Int
    private var waitingCount = 0
    /// The apps with requests that wait in the lane. Few apps wait, so a linear search suffices.
    private(set) var appsWaiting: [AppDirectory.Index] = []
    private(set) var appsLimited: [AppDirectory.Index] = []
    /// The changes since the owner last logged and removed them.
    var changes: [Change] = []

    /// Creates the limits of a lane.
    ///
    /// - Parameters:
    ///   - limits: The limits of each app in this lane.
    ///   - prefetch: The smallest prefetch of the lane's request queues.
    ///   - waitSecondsMax: The longest delay of a wait queue.
    init(_ limits: [PushLimits], prefetch: Int, waitSecondsMax: Int) {
        waitingMax = max(1, prefetch / Self.waitingPart)
        guard limits.contains(where: { !$0.isNone }) else { return }
        let waitingMaxOfApp = max(1, prefetch / Self.waitingPartOfAnApp)
        apps = limits.map { limits in
            limits.isNone ? nil : AppLimit(limits, waitingMax: waitingMaxOfApp, waitSecondsMax: waitSecondsMax)
        }
    }

    func apply(to app: AppDirectory.Index) -> Bool { !apps.isEmpty && apps[app] != nil }

    subscript(app: AppDirectory.Index) -> AppLimit? { apps[app] }

    mutating func request(
        _ app: AppDirectory.Index, hasWaited: Bool, secondsLeft: Int64?, _ now: MonotonicTime
    ) -> AppLimit.Permit {
        let arrival = AppLimit.Arrival(
            hasWaited: hasWaited, secondsLeft: secondsLeft, hasRoom: waitingCount < waitingMax)
        guard let permit = apps[app]?.request(arrival, now) else { return .now }
        switch permit {
        case .now: break
        case .inLane:
            waitingCount += 1
            if !appsWaiting.contains(app) { appsWaiting.append(app) }
        case .atBroker: markLimited(app)
        }
        return permit
    }

    /// Removes the first waiting request of the app and returns its permit. Returns nil if the request must wait
    /// longer, or if no request waits.
    mutating func nextPermit(_ app: AppDirectory.Index, _ now: MonotonicTime) -> AppLimit.Permit? {
        guard let permit = apps[app]?.nextPermit(now) else { return nil }
        waitingCount -= 1
        if apps[app]?.waitingCount == 0 { appsWaiting.removeAll { $0 == app } }
        if case .atBroker = permit { markLimited(app) }
        return permit
    }

    /// The time to call `nextPermit`, if no push ends before then; nil if no request waits in the lane.
    var nextPermitTime: MonotonicTime? { appsWaiting.lazy.compactMap { apps[$0]?.nextPermitTime }.min() }

    mutating func ended(_ app: AppDirectory.Index, begunAt: MonotonicTime, _ now: MonotonicTime) {
        apps[app]?.ended(begunAt: begunAt, now)
    }

    /// Removes all requests that wait in the lane.
    mutating func forgetWaiting() {
        for app in appsWaiting { apps[app]?.forgetWaiting() }
        appsWaiting = []
        waitingCount = 0
    }

    /// Removes the apps that are no longer limited from `appsLimited`, and appends the changes to `changes`. To be
    /// called periodically while an app is limited.
    mutating func review(_ now: MonotonicTime) {
        for app in appsLimited {
            guard let length = apps[app]?.endLimited(now) else { continue }
            appsLimited.removeAll { $0 == app }
            changes.append(.ended(app, after: length))
        }
    }

    private mutating func markLimited(_ app: AppDirectory.Index) {
        guard !appsLimited.contains(app) else { return }
        appsLimited.append(app)
        changes.append(.began(app))
    }
}
